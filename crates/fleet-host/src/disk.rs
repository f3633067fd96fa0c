//! How much of the disk something uses.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiskUsage {
    /// Bytes of disk; a file with several names counts once.
    pub bytes: u64,
    pub files: u64,
}

/// The bytes that this user can still write to the file system that a path is on. `None` if the system does not tell.
pub fn free(path: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(path).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Why this user cannot write into a folder, if that is so. Git's messages do not always tell.
pub fn write_refusal(folder: &Path) -> Option<io::Error> {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).err().map(Into::into)
}

/// At most this many hard-linked files are remembered; beyond that, further names count again.
const MAX_LINKED: usize = 1_000_000;

/// Counts everything below a path, or the file that it is; links are not followed. What is not there, or cannot be
/// looked at, counts as nothing.
pub fn usage(root: &Path) -> DiskUsage {
    let mut total = DiskUsage::default();
    let mut linked = HashSet::new();
    let mut open: Vec<PathBuf> = Vec::new();
    let mut count = |path: PathBuf, open: &mut Vec<PathBuf>| {
        let Ok(metadata) = fs::symlink_metadata(&path) else { return };
        total.files += 1;
        let is_again = !metadata.is_dir()
            && metadata.nlink() > 1
            && linked.len() < MAX_LINKED
            && !linked.insert((metadata.dev(), metadata.ino()));
        if !is_again {
            total.bytes += metadata.blocks() * 512;
        }
        if metadata.is_dir() {
            open.push(path);
        }
    };
    count(root.to_owned(), &mut open);
    while let Some(folder) = open.pop() {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        for entry in entries.flatten() {
            count(entry.path(), &mut open);
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_tree_is_counted_once_and_links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (inner, other) = (dir.path().join("tree/inner"), dir.path().join("other"));
        fs::create_dir_all(&inner).unwrap();
        fs::create_dir_all(&other).unwrap();
        fs::write(other.join("big"), vec![1; 1 << 20]).unwrap();
        fs::write(inner.join("file"), vec![1; 100_000]).unwrap();
        fs::hard_link(inner.join("file"), inner.join("same")).unwrap();
        symlink(&other, inner.join("link")).unwrap();
        let found = usage(&dir.path().join("tree"));
        assert_eq!(found.files, 5);
        assert!((100_000..200_000).contains(&found.bytes), "{found:?}");
        assert_eq!(usage(&dir.path().join("nothing")), DiskUsage::default());
    }
}
