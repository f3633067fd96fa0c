//! The repository that an agent works with: the `.git` folder of its workspace.
//!
//! Owns how it is made: its own refs and objects, everything else borrowed or copied. Between runs a repository is
//! reused only if every file in it is, byte for byte, what would be written again; anything else goes. Must never be
//! asked with git once an agent has had it: what is in it then is read as data, by `foreign`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::git::capture::copy_with_time;
use crate::git::error::GitError;
use crate::git::gitdir::is_absence;
use crate::git::oid::Oid;
use crate::git::vault::{AgentRefs, Vault};

/// The file of all refs without their own file.
const PACKED: &str = "packed-refs";

/// More folders within each other than branches have. Each level costs an open file when they are removed.
const MAX_LEVELS: usize = 64;

/// What an agent's repository must contain.
#[derive(Debug)]
pub(super) struct AgentRepo {
    dir: PathBuf,
    /// Our own index of the same files.
    index: PathBuf,
    /// All files that stay from run to run, by path.
    files: BTreeMap<PathBuf, Vec<u8>>,
    head: Vec<u8>,
    /// All refs but those in `branches` and `files`.
    packed: Vec<u8>,
    /// The branch of the run, and the symbolic branches, by path. All others are packed.
    branches: BTreeMap<PathBuf, Vec<u8>>,
}

impl AgentRepo {
    /// For the workspace at `work_tree`, on a branch (by its full name) at a commit.
    pub(super) fn new(
        vault: &Vault,
        given: &AgentRefs,
        (work_tree, index): (&Path, &Path),
        (branch, at): (&str, &Oid),
    ) -> Result<Self, GitError> {
        let files = vault.agent_files()?.into_iter().map(|(name, content)| (PathBuf::from(name), content));
        let mut files: BTreeMap<PathBuf, Vec<u8>> = files.collect();
        let mut branches = BTreeMap::new();
        for (name, target) in &given.symbolic {
            let place = if name.starts_with("refs/heads/") { &mut branches } else { &mut files };
            place.insert(name.into(), format!("ref: {target}\n").into_bytes());
        }
        branches.insert(branch.into(), format!("{at}\n").into_bytes());
        let head = format!("ref: {branch}\n").into_bytes();
        let (dir, packed) = (work_tree.join(".git"), given.packed());
        Ok(Self { dir, index: index.to_owned(), files, head, packed, branches })
    }

    /// Makes the repository, or makes the one that is there again what it should be. False if something else is in its
    /// place, which has to go first.
    pub(super) fn ensure(&self) -> Result<bool, GitError> {
        match fs::symlink_metadata(&self.dir) {
            Err(error) if is_absence(&error) => {
                self.build().map_err(GitError::io(&self.dir))?;
                self.copy_index().map(|()| true)
            }
            // An agent can make any step fail. Recreating it then shows whether the fault is ours.
            _ => Ok(self.is_as_made() && self.begin().is_ok() && self.copy_index().is_ok()),
        }
    }

    /// Whether nothing was done in it since it was made for this branch, apart from the index.
    pub(super) fn is_untouched(&self) -> bool {
        let reads = |name: &Path, content: &[u8]| reads(&self.dir.join(name), content);
        self.is_as_made()
            && reads(Path::new("HEAD"), &self.head)
            && reads(Path::new(PACKED), &self.packed)
            && self.branches.iter().all(|(name, content)| reads(name, content))
            && count_files(&self.dir.join("refs/heads")) == Some(self.branches.len())
    }

    fn build(&self) -> io::Result<()> {
        fs::create_dir(&self.dir)?;
        for (name, content) in &self.files {
            write_new(&self.dir.join(name), content)?;
        }
        fs::create_dir_all(self.dir.join("objects/pack"))?;
        self.begin()
    }

    /// Puts the refs in place of those of an earlier run.
    fn begin(&self) -> io::Result<()> {
        let gone = |removed: io::Result<()>| match removed {
            Err(error) if !is_absence(&error) => Err(error),
            _ => Ok(()),
        };
        let is_renamed = self.rename_branch().is_some();
        if !is_renamed {
            gone(fs::remove_dir_all(self.dir.join("refs/heads")))?;
        }
        let packed = self.dir.join(PACKED);
        if !reads(&packed, &self.packed) {
            gone(fs::remove_file(&packed))?;
            write_new(&packed, &self.packed)?;
        }
        for (name, content) in &self.branches {
            let path = self.dir.join(name);
            if is_renamed { fs::write(&path, content) } else { write_new(&path, content) }?;
        }
        fs::write(self.dir.join("HEAD"), &self.head)
    }

    /// Gives the one branch of the run before the name of this run's, if both are in the same folder: two new folders and
    /// a file would cost more than all the rest. `None` where anything is different.
    fn rename_branch(&self) -> Option<()> {
        let mut names = self.branches.keys();
        let (name, None) = (names.next()?, names.next()) else { return None };
        let new = self.dir.join(name);
        let mut folder = self.dir.join("refs/heads");
        let old = loop {
            let mut entries = fs::read_dir(&folder).ok()?;
            let (entry, None) = (entries.next()?.ok()?, entries.next()) else { return None };
            folder = entry.path();
            if !entry.file_type().ok()?.is_dir() {
                break entry;
            }
        };
        let found = old.metadata().ok()?;
        let is_plain = found.is_file() && found.nlink() == 1 && found.mode() & 0o711 == 0o600;
        (is_plain && old.path().parent() == new.parent()).then_some(())?;
        fs::rename(old.path(), new).ok()
    }

    /// The agent's git finds out about its files as quickly as ours does.
    fn copy_index(&self) -> Result<(), GitError> {
        let place = self.dir.join("index");
        if is_same_content(&self.index, &place) {
            return Ok(());
        }
        match fs::remove_file(&place) {
            Err(error) if !is_absence(&error) => return Err(GitError::io(&place)(error)),
            _ => {}
        }
        let own = File::open(&self.index).map_err(GitError::io(&self.index))?;
        let new = OpenOptions::new().write(true).create_new(true).open(&place);
        copy_with_time(own, new.map_err(GitError::io(&place))?).map_err(GitError::io(&place))
    }

    /// Whether everything in it but index and refs is as it was made.
    fn is_as_made(&self) -> bool {
        let mut found = BTreeSet::new();
        fs::symlink_metadata(&self.dir).is_ok_and(|dir| is_open(&dir))
            && self.check(Path::new(""), &mut found).is_some()
            && found.len() == self.files.len()
    }

    fn check(&self, below: &Path, found: &mut BTreeSet<PathBuf>) -> Option<()> {
        for entry in fs::read_dir(self.dir.join(below)).ok()? {
            let entry = entry.ok()?;
            let name = below.join(entry.file_name());
            let kind = entry.file_type().ok()?;
            if kind.is_dir() {
                let is_usual = is_open(&entry.metadata().ok()?) && self.has_folder(&name);
                (is_usual && name.components().count() <= MAX_LEVELS).then_some(())?;
                self.check(&name, found)?;
            } else if !is_changing(&name) {
                reads(&entry.path(), self.files.get(&name)?).then_some(())?;
                found.insert(name);
            } else if !kind.is_file() || entry.metadata().ok()?.nlink() != 1 {
                // We would write through a link, whatever it leads to.
                return None;
            }
        }
        Some(())
    }

    fn has_folder(&self, name: &Path) -> bool {
        let is_usual = ["objects/pack", "refs/heads"].iter().any(|usual| Path::new(usual).starts_with(name));
        is_usual || name.starts_with("refs/heads") || self.files.keys().any(|file| file.starts_with(name))
    }
}

/// Whether the owner has all rights to a folder: without them the next agent could not work.
fn is_open(folder: &fs::Metadata) -> bool {
    folder.mode() & 0o700 == 0o700
}

/// Whether it is rewritten for every run.
fn is_changing(name: &Path) -> bool {
    ["HEAD", "index", PACKED].iter().any(|one| name == Path::new(one)) || name.starts_with("refs/heads")
}

/// Whether a file has this content and no second name.
fn reads(path: &Path, content: &[u8]) -> bool {
    let is_plain = |found: fs::Metadata| {
        found.is_file()
            && found.nlink() == 1
            && found.len() == content.len() as u64
            && found.mode() & 0o600 == 0o600
    };
    fs::symlink_metadata(path).is_ok_and(is_plain) && fs::read(path).is_ok_and(|bytes| bytes == content)
}

fn count_files(folder: &Path) -> Option<usize> {
    let mut count = 0;
    for entry in fs::read_dir(folder).ok()? {
        let entry = entry.ok()?;
        count += if entry.file_type().ok()?.is_dir() { count_files(&entry.path())? } else { 1 };
    }
    Some(count)
}

fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut new = OpenOptions::new();
    let new = new.write(true).create_new(true);
    let mut file = match new.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            new.open(path)?
        }
        opened => opened?,
    };
    file.write_all(content)
}

/// Whether two files have the same content; one that is not there has none.
fn is_same_content(one: &Path, other: &Path) -> bool {
    let is_plain = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    let compare = || -> io::Result<bool> {
        let (mut one, mut other) = (File::open(one)?, File::open(other)?);
        if one.metadata()?.len() != other.metadata()?.len() {
            return Ok(false);
        }
        let (mut left, mut right) = (vec![0; 1 << 16], vec![0; 1 << 16]);
        loop {
            let count = one.read(&mut left)?;
            if count == 0 {
                return Ok(true);
            }
            other.read_exact(&mut right[..count])?;
            if left[..count] != right[..count] {
                return Ok(false);
            }
        }
    };
    is_plain(one) && is_plain(other) && compare().unwrap_or(false)
}
