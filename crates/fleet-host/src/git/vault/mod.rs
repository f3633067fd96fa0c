//! The vault: our own git directory for a project.
//!
//! Owns a bare repository in the fleet's home with our configuration, an administrative folder and an index for every
//! workspace, and all snapshots. It borrows the objects of the user's repository. All that codefleet does with the
//! files of a workspace is done with this git directory, so that no configuration that an agent wrote is ever read.
//! Must never point a ref at something that is neither in its own objects nor held in the user's repository: the user
//! may prune at any moment.

mod agent_refs;
mod bad_refs;
mod boundary;
mod check;
mod claims;
mod complete;
mod copied;
mod migrate;
mod moved;
mod place;
mod repack;
mod settings;
mod tidy;

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::alternates;
use super::error::GitError;
use super::gitdir::is_absence;
use super::held::{self, Holds};
use super::oid::Oid;
use super::stamp::Stamp;
use crate::lock::Exclusive;

pub(super) use self::agent_refs::AgentRefs;
pub(super) use self::bad_refs::put_lost_refs_aside;
pub(super) use self::boundary::{beginnings, users_tips};
pub use self::check::check_vault;
pub(super) use self::complete::{complete, complete_new};
pub use self::tidy::tidy_vault;

/// Another process updates the vault within milliseconds.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);
/// Changes whenever this code would write a vault differently.
const VERSION: u32 = 2;
/// A configuration or list of patterns that is larger is a mistake.
const LARGEST: u64 = 16 << 20;

/// The files of the user's repository that a vault and the repositories of agents have a copy of.
const COPIED: [&str; 3] = ["info/exclude", "info/attributes", "shallow"];

/// What a vault was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct VaultOrigin {
    version: u32,
    repo: PathBuf,
    /// Where the vault itself was then.
    #[serde(default)]
    place: PathBuf,
    config: Option<Stamp>,
    copied: [Option<Stamp>; COPIED.len()],
}

impl VaultOrigin {
    fn of(Vault { repo, dir }: &Vault) -> Self {
        let copied = COPIED.map(|name| Stamp::of(&repo.join(name)));
        let config = Stamp::of(&repo.join("config"));
        Self { version: VERSION, repo: repo.clone(), place: place::of(dir), config, copied }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Vault {
    pub(super) dir: PathBuf,
    pub(super) repo: PathBuf,
}

impl Vault {
    /// The vault in this folder, made or brought up to date if need be. Costs a few looks at files otherwise.
    pub(super) fn of(repo: &Path, dir: &Path) -> Result<Self, GitError> {
        let repo = fs::canonicalize(repo).map_err(GitError::io(repo))?;
        let vault = Self { dir: dir.to_owned(), repo };
        if !vault.is_current() {
            moved::take_over(&vault)?;
            vault.refresh()?;
        }
        Ok(vault)
    }

    /// Holds a commit in the user's repository.
    pub(super) fn hold(&self, commit: &Oid) -> Result<(), GitError> {
        self.holds()?.add(commit)?;
        if self.is_mirror() { copied::copy(self, commit) } else { Ok(()) }
    }

    /// What is held in the user's repository for this vault.
    pub(super) fn holds(&self) -> Result<Holds, GitError> {
        Holds::of(&self.repo, &self.dir)
    }

    fn is_current(&self) -> bool {
        let noted = fs::read(self.dir.join("origin.json")).ok();
        let noted = noted.and_then(|bytes| serde_json::from_slice::<VaultOrigin>(&bytes).ok());
        noted == Some(VaultOrigin::of(self))
            && self.is_whole()
            && held::vault_id(&self.dir).is_some()
            && !migrate::may_have_some(&self.repo)
    }

    /// Whether the vault is complete.
    fn is_whole(&self) -> bool {
        let lenders = fs::read(self.dir.join("objects/info/alternates")).ok();
        lenders == Some(alternates::file(&[&self.repo.join("objects")]))
            && ["HEAD", "config", "agent-config", "objects/pack", "worktrees"]
                .iter()
                .all(|name| self.dir.join(name).exists())
    }

    fn refresh(&self) -> Result<(), GitError> {
        let failed = GitError::io(&self.dir);
        for folder in ["refs/heads", "objects/pack", "objects/info", "info", "worktrees", "given"] {
            let folder = self.dir.join(folder);
            let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
            made.map_err(GitError::io(&folder))?;
        }
        let lock = Exclusive::acquire(&self.dir.join("refresh.lock"), LOCK_TIMEOUT).map_err(failed)?;
        let Some(_lock) = lock else {
            return Err(GitError::Refused(format!("{} is locked by another process", self.dir.display())));
        };
        if self.is_current() {
            return Ok(());
        }
        place::settle_id(self)?;
        // Read before it is copied: what changes meanwhile is found by the next look.
        let origin = VaultOrigin::of(self);
        let settings = settings::read(&self.repo)?;
        self.write("objects/info/alternates", &alternates::file(&[&self.repo.join("objects")]))?;
        self.write("config", settings.for_vault().as_bytes())?;
        self.write("agent-config", settings.for_agent().as_bytes())?;
        self.copy_files()?;
        self.mark("partial", settings.is_partial())?;
        self.write("HEAD", b"ref: refs/heads/none\n")?;
        let noted = serde_json::to_vec(&origin).map_err(io::Error::other).map_err(GitError::io(&self.dir))?;
        bad_refs::put_bad_refs_aside(self);
        if settings.is_mirror() && !self.is_mirror() {
            put_lost_refs_aside(&self.dir)?;
            copied::copy_all(self)?;
        }
        self.mark("mirror", settings.is_mirror())?;
        migrate::snapshots(self)?;
        self.write("origin.json", &noted)
    }

    /// Makes or removes the file that says something about the user's repository.
    fn mark(&self, name: &str, is_so: bool) -> Result<(), GitError> {
        if is_so { self.write(name, b"") } else { remove(&self.dir.join(name)) }
    }

    fn copy_files(&self) -> Result<(), GitError> {
        for name in COPIED {
            match read_bounded(&self.repo.join(name))? {
                Some(content) => self.write(name, &content)?,
                None => remove(&self.dir.join(name))?,
            }
        }
        Ok(())
    }

    /// Sets the time of the lock file to now.
    fn touch(&self) -> Result<(), GitError> {
        let path = self.dir.join("refresh.lock");
        fs::write(&path, b"").map_err(GitError::io(&path))
    }

    /// Writes a file of the vault. Readers find the old one or the new one.
    fn write(&self, name: &str, content: &[u8]) -> Result<(), GitError> {
        let (path, new) = (self.dir.join(name), self.dir.join(format!("{name}.new")));
        let written = (|| {
            let mut options = OpenOptions::new();
            let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&new)?;
            file.write_all(content)?;
            file.sync_all()?;
            fs::rename(&new, &path)
        })();
        written.map_err(GitError::io(&path))
    }

    /// Whether the user's repository leaves objects out and fetches them when they are needed.
    pub(super) fn is_partial(&self) -> bool {
        self.dir.join("partial").exists()
    }

    /// Whether a remote of the user's repository is mirrored into all refs, so that ours go when it is fetched.
    pub(super) fn is_mirror(&self) -> bool {
        self.dir.join("mirror").exists()
    }

    /// Our administrative folder for a workspace. Two stores that know the same repository have workspaces of the same
    /// names, in different folders.
    pub(super) fn admin_dir(&self, workspace: &Path) -> PathBuf {
        let part = |path: Option<&Path>| {
            path.and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned()
        };
        let name = format!("{}-{}", part(workspace.parent()), part(Some(workspace)));
        self.dir.join("worktrees").join(name)
    }

    /// What the repository of an agent has besides its branch and refs, by path.
    pub(super) fn agent_files(&self) -> Result<Vec<(String, Vec<u8>)>, GitError> {
        let config = self.dir.join("agent-config");
        let borrowed = alternates::file(&[&self.dir.join("objects"), &self.repo.join("objects")]);
        let mut files = vec![
            ("config".to_owned(), fs::read(&config).map_err(GitError::io(&config))?),
            ("objects/info/alternates".to_owned(), borrowed),
        ];
        for name in COPIED {
            let content = read_bounded(&self.dir.join(name))?;
            files.extend(content.map(|content| (name.to_owned(), content)));
        }
        Ok(files)
    }
}

/// Makes sure that there is a vault for the user's repository `repo` in the folder `dir`, up to date and with all
/// snapshots in it.
pub fn open_vault(repo: &Path, dir: &Path) -> Result<(), GitError> {
    Vault::of(repo, dir).map(drop)
}

pub(super) fn noted_repo(dir: &Path) -> Option<PathBuf> {
    let noted = fs::read(dir.join("origin.json")).ok()?;
    serde_json::from_slice::<VaultOrigin>(&noted).ok().map(|origin| origin.repo)
}

/// Whether this git directory is a vault.
pub(super) fn is_vault(dir: &Path) -> bool {
    dir.join("origin.json").exists()
}

fn read_bounded(path: &Path) -> Result<Option<Vec<u8>>, GitError> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() && found.len() <= LARGEST => {
            fs::read(path).map(Some).map_err(GitError::io(path))
        }
        Ok(_) => Err(GitError::Refused(format!("{} is not a file of reasonable size", path.display()))),
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => Err(GitError::io(path)(error)),
    }
}

fn remove(path: &Path) -> Result<(), GitError> {
    match fs::remove_file(path) {
        Err(error) if !is_absence(&error) => Err(GitError::io(path)(error)),
        _ => Ok(()),
    }
}
