//! An index of our own, next to the one that the agent works with.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::git::checkout::Checkout;
use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::gitdir::is_absence;
use crate::git::random;
use crate::git::refs;

/// A file in a git directory that is removed when it is no longer needed. Those of a killed process go when the
/// worktree is cleaned.
#[derive(Debug)]
pub(in crate::git) struct ScratchFile {
    path: PathBuf,
}

impl ScratchFile {
    /// A name that no other scratch file of this or another living process has.
    pub(in crate::git) fn new(git_dir: &Path, purpose: &str) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        Self { path: git_dir.join(format!("fleet-{purpose}-{}-{number}", std::process::id())) }
    }

    pub(in crate::git) fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the file, readable by its owner alone, in place of one that a dead process of the same number left.
    pub(in crate::git) fn create(&self) -> Result<File, GitError> {
        self.remove();
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        options.open(&self.path).map_err(GitError::io(&self.path))
    }

    /// Creates the file with this content and opens it to be read by a command.
    pub(in crate::git) fn with(self, content: &[u8]) -> Result<(Self, File), GitError> {
        self.create()?.write_all(content).map_err(GitError::io(&self.path))?;
        let file = self.open()?;
        Ok((self, file))
    }

    /// Input for a command, in a file without a name: a killed process leaves nothing. In the system's temporary
    /// folder, because our files do not belong in a user's repository.
    pub(in crate::git) fn input(content: &[u8]) -> Result<File, GitError> {
        let scratch = Self::new(&std::env::temp_dir(), &format!("input-{}", random::hex(16)?));
        let path = scratch.path.clone();
        let mut options = OpenOptions::new();
        let made = options.read(true).write(true).create_new(true).mode(0o600).open(&path);
        let mut file = made.map_err(GitError::io(&path))?;
        drop(scratch);
        let filled = file.write_all(content).and_then(|()| file.rewind());
        filled.map(|()| file).map_err(GitError::io(&path))
    }

    pub(in crate::git) fn open(&self) -> Result<File, GitError> {
        File::open(&self.path).map_err(GitError::io(&self.path))
    }

    /// A copy of the file under another name, with its time.
    pub(super) fn copied(&self, git_dir: &Path) -> Result<Self, GitError> {
        let copy = Self::new(git_dir, "index");
        copy.fill(self.open()?).map(|()| copy)
    }

    /// Creates the file with the content and the time of another one.
    fn fill(&self, from: File) -> Result<(), GitError> {
        copy_with_time(from, self.create()?).map_err(GitError::io(&self.path))
    }

    fn remove(&self) {
        let _ = fs::remove_file(&self.path);
        let mut lock = self.path.clone().into_os_string();
        lock.push(".lock");
        let _ = fs::remove_file(lock);
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        self.remove();
    }
}

/// A copy of the checkout's index, which knows the state of every file at its last look and so spares reading them
/// again. `None` if there is no index.
pub(super) fn copy(checkout: &Checkout) -> Result<Option<ScratchFile>, GitError> {
    let own = ScratchFile::new(&checkout.git_dir, "index");
    let theirs = checkout.git_dir.join("index");
    match File::open(&theirs) {
        Ok(file) => own.fill(file).map(|()| Some(own)),
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => Err(GitError::io(&theirs)(error)),
    }
}

/// Git compares the times of files with the time of their index in order to find those that changed within the same
/// tick of the clock. A copy that looked newer would hide them.
pub(in crate::git) fn copy_with_time(mut from: File, mut to: File) -> io::Result<()> {
    let modified = from.metadata()?.modified()?;
    io::copy(&mut from, &mut to)?;
    to.set_modified(modified)
}

/// An index that knows what is tracked, but nothing about the files: for a checkout without a usable one.
pub(super) fn from_head(checkout: &Checkout) -> Result<ScratchFile, GitError> {
    let own = ScratchFile::new(&checkout.git_dir, "index");
    own.remove();
    let git = Git::within(checkout).index(own.path());
    match refs::head(&checkout.git_dir)? {
        Some(head) => git.args(["read-tree", head.as_str()]).run()?,
        None => git.args(["read-tree", "--empty"]).run()?,
    }
    Ok(own)
}
