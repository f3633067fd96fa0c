//! Worktrees that were moved aside, and their slow removal.
//!
//! After tens of thousands of files were deleted at once, creating files is slow for minutes on some file systems. So
//! nothing large is ever deleted while a user waits: it is renamed into this folder, and removed in small steps in the
//! background.

use std::fs::{self, ReadDir};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::git::gitdir::is_absence;

/// Longer paths are made shorter: with a name more, the system must still take them.
const LONGEST_PATH: usize = 700;

/// So are deeper ones: each level is an open folder.
const MAX_DEPTH: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// How many files and folders at most, this time.
    pub at_most: u64,
    /// Pause after this many.
    pub pause_every: u64,
    pub pause: Duration,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Emptied {
    pub removed: u64,
    /// How many bytes of disk they had, as far as no other name of the same file is left.
    pub bytes: u64,
    pub empty: bool,
    /// How many could not be removed, for instance because another user owns them.
    pub failed: u64,
}

/// Removes what is in the trash, up to the pace. Links are removed, never followed. Several may do this at once.
pub fn empty_trash(trash: &Path, pace: Pace) -> io::Result<Emptied> {
    let mut work = Removal { trash, pace, done: Emptied::default(), brought_up: 0 };
    loop {
        let entries = match fs::read_dir(trash) {
            Ok(entries) => entries,
            Err(error) if is_absence(&error) => return Ok(Emptied { empty: true, ..work.done }),
            Err(error) => return Err(error),
        };
        let before = work.brought_up;
        for entry in entries {
            work.remove(&entry?.path());
            if work.is_over() {
                break;
            }
        }
        // What was brought up need not have been listed.
        if work.is_over() || work.brought_up == before {
            break;
        }
    }
    work.done.empty = fs::read_dir(trash)?.next().is_none();
    Ok(work.done)
}

/// Moves a file or folder into the trash, which is made if there is none. False if it is not there. Both have to be on
/// one file system.
pub fn move_to_trash(trash: &Path, path: &Path) -> io::Result<bool> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(trash)?;
    loop {
        // Another process of the same number may have left something of this name.
        match rename_new(path, &trash.join(unique_name(path))) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) if is_absence(&error) && fs::symlink_metadata(path).is_err() => return Ok(false),
            moved => return moved.map(|()| true),
        }
    }
}

struct Removal<'a> {
    trash: &'a Path,
    pace: Pace,
    done: Emptied,
    /// How many folders were moved to the top of the trash.
    brought_up: u64,
}

/// A folder whose content is being removed.
struct TrashLevel {
    path: PathBuf,
    entries: ReadDir,
    complete: bool,
}

impl Removal<'_> {
    fn is_over(&self) -> bool {
        self.done.removed >= self.pace.at_most
    }

    /// Removes a tree from below. False if something is left. Goes down with its own list instead of calling
    /// itself: an agent can make folders deeper than a stack.
    fn remove(&mut self, root: &Path) -> bool {
        let mut levels = Vec::new();
        let mut complete = self.enter_or_remove(root.to_owned(), &mut levels);
        while let Some(level) = levels.last_mut() {
            if self.is_over() {
                return false;
            }
            if let Some(Ok(entry)) = level.entries.next() {
                let done = self.enter_or_remove(entry.path(), &mut levels);
                if let Some(level) = levels.last_mut() {
                    level.complete &= done;
                }
            } else if let Some(level) = levels.pop() {
                let done = level.complete && self.count(&level.path, fs::remove_dir(&level.path), 0);
                match levels.last_mut() {
                    Some(above) => above.complete &= done,
                    None => complete = done,
                }
            }
        }
        complete
    }

    /// Removes a file, or begins with a folder. False if it failed.
    fn enter_or_remove(&mut self, path: PathBuf, levels: &mut Vec<TrashLevel>) -> bool {
        let Ok(metadata) = fs::symlink_metadata(&path) else { return true };
        if !metadata.is_dir() {
            let bytes = if metadata.nlink() == 1 { metadata.blocks() * 512 } else { 0 };
            return self.count(&path, fs::remove_file(&path), bytes);
        }
        let _ = open_up(&path);
        let is_deep = levels.len() > MAX_DEPTH || path.as_os_str().len() > LONGEST_PATH;
        if is_deep && self.bring_up(&path) {
            return true;
        }
        match fs::read_dir(&path) {
            Ok(entries) => {
                levels.push(TrashLevel { path, entries, complete: true });
                true
            }
            Err(error) => self.count(&path, Err(error), 0),
        }
    }

    /// Moves a folder to the top of the trash, where what is in it has shorter paths. The system takes no path as long as
    /// an agent can make one, step by step.
    fn bring_up(&mut self, folder: &Path) -> bool {
        let is_up = rename_new(folder, &self.trash.join(unique_name(Path::new("deep")))).is_ok();
        self.brought_up += u64::from(is_up);
        is_up
    }

    fn count(&mut self, _path: &Path, removed: io::Result<()>, bytes: u64) -> bool {
        match removed {
            Ok(()) => {
                self.done.removed += 1;
                self.done.bytes += bytes;
                if self.pace.pause_every > 0 && self.done.removed.is_multiple_of(self.pace.pause_every) {
                    thread::sleep(self.pace.pause);
                }
                true
            }
            Err(error) if is_absence(&error) => true,
            Err(_) => {
                self.done.failed += 1;
                false
            }
        }
    }
}

/// A name in the trash that says where something came from and that no living process uses as well.
pub(super) fn unique_name(path: &Path) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let part = |path: Option<&Path>| {
        path.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let (project, slot) = (part(path.parent()), part(Some(path)));
    format!("{project}-{slot}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Gives the owner all rights to a folder: an agent may have taken them away, even its own. Others are left alone.
pub(super) fn open_up(folder: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(folder)?;
    if !found.is_dir() || found.mode() & 0o700 == 0o700 {
        return Ok(());
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(found.mode() & 0o777 | 0o700))
}

/// Renames, and fails if there is something of the new name.
pub(in crate::git) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        // A file system that does not know how. The name is unique enough, and only an empty folder would go.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS | rustix::io::Errno::NOTSUP) => {
            fs::rename(from, to)
        }
        Err(errno) => Err(errno.into()),
    }
}
