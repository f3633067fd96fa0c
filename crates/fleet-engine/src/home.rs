//! Where codefleet keeps its files on this machine: `$FLEET_HOME`.
//!
//! Owns the names of files and folders below it, and that they are private. Must never know what is in them.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use fleet_core::id::RunId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::project::Project;
use fleet_host::git::{Area, KeepFiles, Repository};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use crate::config::Config;

/// A function for each file and folder that has a fixed name.
macro_rules! paths {
    ($folder:ident: $($(#[$doc:meta])* $name:ident = $file:literal;)+) => {
        $($(#[$doc])* pub fn $name(&self) -> PathBuf {
            self.$folder.join($file)
        })+
    };
}

/// The configuration of the other program of this name, which is in every home of it.
pub(crate) const OTHER_CONFIG: &str = "runtime.toml";
/// What is in a home of ours as soon as anything was done with it.
const OURS: [&str; 5] = ["config.toml", "fleet.db", "vaults", "runs", "live"];

#[derive(Debug, Clone)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    paths! { root:
        /// The folder of all runs.
        runs = "runs";
        /// The workspaces of all projects.
        areas = "worktrees";
        /// The vaults of all repositories.
        vaults = "vaults";
        /// One file for each run that is at work here or still has to be tidied up: locked and written by its keeper,
        /// removed when nothing of the run is left but its branch and its folder.
        live = "live";
        /// One file for each runner that is up.
        runners = "runners";
        /// One file for each block of ports.
        ports = "ports";
        /// What programs need to know in order to use a server here over the network.
        server_token = "server-token";
        /// What runners in the background say.
        runner_log = "runner.log";
        /// There from the start of a runner in the background until a user stops it: if the runner is gone meanwhile,
        /// another is started.
        runner_wanted = "runner-wanted";
        /// There while every agent of this home is frozen.
        frozen = "frozen";
    }

    /// What is kept of a run: its prompt, what its agent printed, its result.
    pub fn run(&self, run: RunId) -> RunFolder {
        RunFolder { dir: self.root.join("runs").join(run.to_string()) }
    }

    /// The work trees of a project. The name is for people; the id keeps repositories of one name apart.
    pub fn worktrees(&self, project: &Project) -> PathBuf {
        self.areas().join(format!("{}-{}", file_name(&project.name), project.id))
    }

    /// Our own git directory for a repository, by its git common directory: snapshots, and what we know about its
    /// workspaces. Found by the path alone, because a store may be replaced by another one that does not know it.
    pub fn vault(&self, common_dir: &str) -> PathBuf {
        let path = PathBuf::from(common_dir);
        let name = Repository { git_dir: path.clone(), common_dir: path, work_tree: None }.display_name();
        let digest: [u8; 32] = Sha256::digest(common_dir.as_bytes()).into();
        let hash = digest.iter().take(8).fold(0_u64, |hash, byte| hash << 8 | u64::from(*byte));
        self.vaults().join(format!("{}-{hash:016x}", file_name(&name)))
    }

    /// The same, as something that hands out workspaces.
    pub fn area(&self, project: &Project, config: &Config) -> Area {
        let wish = config.workspaces();
        Area {
            repo: PathBuf::from(&project.common_dir),
            vault: self.vault(&project.common_dir),
            dir: self.worktrees(project),
            trash: self.trash(),
            pool: wish.pool,
            keep: if wish.keep_ignored { KeepFiles::Ignored } else { KeepFiles::Nothing },
        }
    }

    /// Work trees with files that no snapshot can take (unreadable ones, broken repositories). Nothing removes them.
    pub fn kept(&self) -> PathBuf {
        self.areas().join(".kept")
    }

    /// A clone for a person who wants the files of a run that has ended. Nothing removes it.
    pub fn opened(&self, run: RunId) -> PathBuf {
        self.root.join("opened").join(run.to_string())
    }

    pub fn trash(&self) -> PathBuf {
        self.areas().join(".trash")
    }

    pub fn live_run(&self, run: RunId) -> PathBuf {
        self.live().join(run.to_string())
    }

    /// Refuses a folder that another program of the name `fleet` uses, and this one never has. Both write a configuration
    /// and a queue, and neither would understand the other's.
    pub fn check_ours(&self) -> Outcome<()> {
        let has = |name: &&str| self.root.join(name).symlink_metadata().is_ok();
        if !has(&OTHER_CONFIG) || OURS.iter().any(has) {
            return Ok(());
        }
        let message = format!("{} is the home of another program called `fleet`", self.root.display());
        Err(Problem::new(Code::ForeignHome, message)
            .hint("`fleet init --migrate` takes over its settings and tasks, with a backup of each")
            .hint("`FLEET_HOME=~/.codefleet` keeps the two apart"))
    }

    /// Which home on which machine this is.
    pub fn place(&self) -> io::Result<String> {
        crate::place::name(&self.root)
    }
}

#[derive(Debug, Clone)]
pub struct RunFolder {
    dir: PathBuf,
}

impl RunFolder {
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn make(&self) -> io::Result<()> {
        make_private(&self.dir)
    }

    paths! { dir:
        prompt = "prompt.md";
        /// What the agent printed, byte by byte.
        stdout = "stdout.log";
        stderr = "stderr.log";
        /// Which conversation the agent took part in.
        talk = "talk.json";
        /// Settings that were made for this run's agent.
        scratch = "agent";
        /// The socket through which the agent asks its keeper.
        door = "door";
        /// The socket through which people look at the terminal of its agent.
        terminal = "terminal";
        /// What its terminal showed, as an asciicast.
        recording = "terminal.cast";
        /// The last lines of its terminal, when the agent had ended.
        last_lines = "terminal.txt";
        setup_log = "setup.log";
        checks_log = "checks.log";
        /// There from when the checks began: the agent's work is committed, and what is left in the workspace is theirs.
        checking = "checking";
        /// What the keeper itself had to say.
        keeper_log = "keeper.log";
        /// The log of a repair after the keeper was gone.
        repair = "repair.json";
        /// Where the processes of the run are found.
        tree = "tree.json";
        /// There if the work was saved before the agent was asked to stop.
        saved = "saved";
        /// There while its agent is frozen.
        frozen = "frozen";
        /// How the run ended, written before it is recorded in the store.
        ending = "ending.json";
        result = "result.json";
    }
}

/// Makes a folder, and those above it, that only the user can enter.
pub fn make_private(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Writes a whole file that only the user can read: complete under its name, or not there.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_whole(path, bytes, File::sync_all)
}

/// The same for what can be missed when the power goes: complete under its name as long as the machine runs, and not
/// worth a disk's time.
pub fn write_passing(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_whole(path, bytes, |_| Ok(()))
}

fn write_whole(path: &Path, bytes: &[u8], sync: impl Fn(&File) -> io::Result<()>) -> io::Result<()> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let new = PathBuf::from(new);
    let mut file = create_private(&new)?;
    file.write_all(bytes)?;
    sync(&file)?;
    fs::rename(&new, path)
}

/// Writes a file into a folder where an agent can put what it likes: no link in the way is followed, and no file that is
/// there already is written to.
pub(crate) fn write_beside_agent(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    make_private(folder)?;
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let dir = rustix::fs::open(folder, flags, Mode::empty())?;
    let new = format!("{name}.new");
    match rustix::fs::unlinkat(&dir, &new, AtFlags::empty()) {
        Err(error) if error != Errno::NOENT => return Err(error.into()),
        _ => {}
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(&dir, &new, flags, Mode::RUSR | Mode::WUSR)?);
    file.write_all(bytes)?;
    rustix::fs::renameat(&dir, &new, &dir, name)?;
    Ok(folder.join(name))
}

/// An empty file that only the user can read.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    // What is in the way of a new file is not followed.
    let no_link = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).custom_flags(no_link).open(path)
}

/// A name that can stand in a path and is pleasant to read.
fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    let name: String = name.chars().map(plain).take(40).collect();
    name.trim_start_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_an_agent_puts_in_the_way_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (theirs, users) = (dir.path().join("agent"), dir.path().join("user"));
        fs::create_dir(&theirs).unwrap();
        fs::create_dir(&users).unwrap();
        fs::write(users.join("notes"), "precious").unwrap();
        let untouched = || {
            let entries = fs::read_dir(&users).unwrap().count();
            (entries, fs::read_to_string(users.join("notes")).unwrap()) == (1, "precious".to_owned())
        };
        for name in ["a", "a.new"] {
            symlink(users.join("notes"), theirs.join(name)).unwrap();
            fs::hard_link(users.join("notes"), theirs.join(name.replace('a', "b"))).unwrap();
        }
        for name in ["a", "b"] {
            let path = write_beside_agent(&theirs, name, b"a prompt").unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), "a prompt");
            assert!(!fs::symlink_metadata(path).unwrap().is_symlink() && untouched(), "{name}");
        }
        symlink(&users, theirs.join("folder")).unwrap();
        assert!(write_beside_agent(&theirs.join("folder"), "a", b"a prompt").is_err());
        fs::create_dir(theirs.join("c.new")).unwrap();
        assert!(write_beside_agent(&theirs, "c", b"a prompt").is_err(), "not a file");
        assert!(untouched());
    }

    #[test]
    fn names_of_repositories_become_names_of_folders() {
        assert_eq!(file_name("codefleet.git"), "codefleet.git");
        assert_eq!(file_name("../mein Projekt/ü"), "_mein_Projekt_ü");
        assert_eq!(file_name("..."), "");
        assert_eq!(file_name(&"x".repeat(100)).len(), 40);
    }
}
