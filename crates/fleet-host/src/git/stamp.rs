//! Which state of a file was seen.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The identity, size and times of a file or folder. Git replaces files instead of changing them, so that another state
/// has another stamp; a file that is changed in place has another change time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Stamp {
    inode: u64,
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// That of what is at the path, not following a last link; `None` if there is nothing.
    pub(super) fn of(path: &Path) -> Option<Self> {
        fs::symlink_metadata(path).ok().map(|found| Self {
            inode: found.ino(),
            length: found.len(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }

    /// When it was changed last, in the seconds of the file system.
    pub(super) fn seconds(&self) -> i64 {
        self.modified.0.max(self.changed.0)
    }
}
