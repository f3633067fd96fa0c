//! A folder that is removed when it is no longer needed.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use super::capture::ScratchFile;
use super::error::GitError;

/// A folder for its owner alone. That of a killed process stays, under a name that starts with `fleet-`.
#[derive(Debug)]
pub(super) struct Temporary {
    path: PathBuf,
}

impl Temporary {
    /// A new folder in `parent`. One that is there already may be in use: numbers of processes repeat in containers.
    pub(super) fn new(parent: &Path, purpose: &str) -> Result<Self, GitError> {
        loop {
            let path = ScratchFile::new(parent, purpose).path().to_owned();
            match make(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(GitError::io(&path)(error)),
                Ok(()) => return Ok(Self { path }),
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a folder inside, unless it exists.
    pub(super) fn inner(&self, name: &str) -> Result<PathBuf, GitError> {
        let path = self.path.join(name);
        match make(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(GitError::io(&path)(error)),
            _ => Ok(path),
        }
    }
}

fn make(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}
