//! What a work tree looks like from outside: the kind, place, size and times of everything in it.
//!
//! Owns the proof that nothing in a work tree was changed since git called it clean, without asking git again: git itself
//! believes the times of files, and this looks at those of folders, too, and at files that git ignores. Must never call
//! a tree the same that git could tell apart: whatever is too young to be told by its times has no print at all.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::slot::HeldSlot;
use crate::git::oid::Oid;
use crate::git::stamp::Stamp;

/// Of larger trees git is asked: it looks at files with several threads.
const MAX_ENTRIES: usize = 2_000;

/// The coarsest clock of a file system that is in use, in nanoseconds: within it, a file can change and look the same.
const COARSE_TICK: i128 = 2_000_000_000;

/// That of one which tells parts of a second: the kernel's clock, which ticks ten times as often at least.
const FINE_TICK: i128 = 100_000_000;

/// The fingerprint of a work tree: the same fingerprint, the same tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Fingerprint(u64);

impl Fingerprint {
    /// That of a work tree which nothing works in. `None` if that is not known for certain: `now` is when the
    /// file system says that it is, in nanoseconds.
    pub(super) fn settled(root: &Path, now: i128) -> Option<Self> {
        Self::of(root, now)
    }

    /// That of a work tree whose print was taken before: if it is the same, it was settled at that time.
    pub(super) fn again(root: &Path) -> Option<Self> {
        Self::of(root, i128::MAX)
    }

    fn of(root: &Path, now: i128) -> Option<Self> {
        let mut walk = FingerprintWalk { hasher: DefaultHasher::new(), left: MAX_ENTRIES, now };
        walk.take(&fs::symlink_metadata(root).ok()?)?;
        let repository = root.join(".git");
        let mut open = vec![root.to_owned()];
        while let Some(folder) = open.pop() {
            let names = names(&folder).ok()?;
            // Git does not speak of empty folders, and would leave them to the next run.
            if names.is_empty() {
                return None;
            }
            for name in names {
                let path = folder.join(&name);
                // The agent's repository is looked at by itself.
                if path == repository {
                    continue;
                }
                let found = fs::symlink_metadata(&path).ok()?;
                name.hash(&mut walk.hasher);
                walk.take(&found)?;
                if found.is_dir() {
                    open.push(path);
                }
            }
            // Where a folder ends matters: the same names in another one are another tree.
            u64::MAX.hash(&mut walk.hasher);
        }
        Some(Self(walk.hasher.finish()))
    }
}

struct FingerprintWalk {
    hasher: DefaultHasher,
    left: usize,
    now: i128,
}

impl FingerprintWalk {
    fn take(&mut self, found: &Metadata) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        let modified = (found.mtime(), found.mtime_nsec());
        let changed = (found.ctime(), found.ctime_nsec());
        let looks = (found.dev(), found.ino(), found.mode(), found.uid(), found.size());
        (looks, modified, changed).hash(&mut self.hasher);
        is_settled(found, self.now).then_some(())
    }
}

/// Whether a change from now on would show in the times. A time without parts of a second may be of a clock that has none.
fn is_settled(found: &Metadata, now: i128) -> bool {
    let is_fine = found.ctime_nsec() != 0 && found.mtime_nsec() != 0;
    let tick = if is_fine { FINE_TICK } else { COARSE_TICK };
    changed_at(found) < now.saturating_sub(tick)
}

/// When a file or folder was changed last, in the nanoseconds of the file system.
pub(super) fn changed_at(found: &Metadata) -> i128 {
    let nanos = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    nanos(found.ctime(), found.ctime_nsec()).max(nanos(found.mtime(), found.mtime_nsec()))
}

/// The names in a folder, in an order that does not depend on the file system.
fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    let mut names =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
    names.sort_unstable();
    Ok(names)
}

/// What is known of a worktree that is free: git called it clean at this commit, with this index, when it looked like
/// this. Kept in the lock file of its slot, where it costs no file of its own; damaged, it is as good as none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Proof {
    pub(super) commit: String,
    pub(super) index: Stamp,
    pub(super) print: Fingerprint,
}

impl Proof {
    pub(super) fn of(held: &HeldSlot) -> Option<Self> {
        serde_json::from_slice(&held.content()?).ok()
    }

    /// Whether it is about this commit and this index.
    pub(super) fn is_of(&self, commit: &Oid, index: Option<Stamp>) -> bool {
        self.commit == commit.as_str() && Some(self.index) == index
    }

    /// Writes it down. Without it, the next open asks git.
    pub(super) fn leave(&self, held: &HeldSlot) {
        if let Ok(bytes) = serde_json::to_vec(self) {
            held.say(&bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("folder")).unwrap();
        fs::write(dir.path().join("folder/file"), "one").unwrap();
        fs::write(dir.path().join("other"), "two").unwrap();
        dir
    }

    fn print(dir: &tempfile::TempDir) -> Option<Fingerprint> {
        Fingerprint::again(dir.path())
    }

    /// Waits for the next tick of the file system's clock.
    fn tick() {
        let probe = tempfile::NamedTempFile::new().unwrap();
        let looks = || {
            fs::write(probe.path(), "x").unwrap();
            let found = fs::metadata(probe.path()).unwrap();
            (found.ctime(), found.ctime_nsec())
        };
        let first = looks();
        while looks() == first {
            std::thread::yield_now();
        }
    }

    #[test]
    fn every_change_is_another_print() {
        let dir = tree();
        let path = |name: &str| dir.path().join(name);
        let mut seen = vec![print(&dir)];
        let mut is_new = |what: &str| {
            let now = print(&dir);
            assert!(now.is_some() && !seen.contains(&now), "{what}");
            assert_eq!(now, print(&dir), "{what}");
            seen.push(now);
            tick();
        };
        tick();
        let modified = fs::metadata(path("folder/file")).unwrap().modified().unwrap();
        fs::write(path("folder/file"), "six").unwrap();
        let file = fs::File::options().write(true).open(path("folder/file")).unwrap();
        file.set_modified(modified).unwrap();
        is_new("other content, with the old time put back");
        fs::write(path("ignored"), "").unwrap();
        is_new("another file");
        fs::remove_file(path("ignored")).unwrap();
        is_new("its folder tells that it was there");
        fs::set_permissions(path("other"), fs::Permissions::from_mode(0o755)).unwrap();
        is_new("other permissions");
        fs::rename(path("other"), path("folder/other")).unwrap();
        is_new("another place");
        fs::create_dir(path("empty")).unwrap();
        assert_eq!(print(&dir), None, "an empty folder is for others to remove");
    }

    #[test]
    fn what_is_too_young_has_no_print_that_could_be_relied_on() {
        let dir = tree();
        let file = dir.path().join("other");
        let now = changed_at(&fs::metadata(&file).unwrap());
        assert_eq!(Fingerprint::settled(dir.path(), now), None);
        let settled = Fingerprint::settled(dir.path(), now + 2 * COARSE_TICK);
        assert!(settled.is_some() && settled == print(&dir));
        // As on a file system that knows no parts of a second.
        let file = fs::File::options().write(true).open(&file).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000)).unwrap();
        let now = changed_at(&file.metadata().unwrap());
        assert_eq!(Fingerprint::settled(dir.path(), now + 2 * FINE_TICK), None);
        assert!(Fingerprint::settled(dir.path(), now + 2 * COARSE_TICK).is_some());
    }

    #[test]
    fn a_large_tree_is_left_to_git() {
        let dir = tree();
        for number in 0..MAX_ENTRIES {
            fs::write(dir.path().join(number.to_string()), "").unwrap();
        }
        assert_eq!(print(&dir), None);
    }
}
