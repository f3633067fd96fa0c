//! The modes of files and folders, of which git knows one bit.
//!
//! Owns what the next run finds of them in a warm workspace: nothing of what an agent set.

use std::fs::{self, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

use super::trash::unique_name;
use super::{Area, KeepFiles};

const ALL_BITS: u32 = 0o7777;
const RUNNABLE: u32 = 0o100;

/// Neither follows a link nor waits for a pipe.
const NO_LINK: i32 = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits().cast_signed();

/// Gives everything in a workspace that git has cleaned the mode of something new. False if a file has a second name:
/// whoever knows that could change the file while the next run works with it.
///
/// Where ignored files stay, only the top folder is looked at: caches have modes of their own.
pub(super) fn restore(area: &Area, root: &Path) -> io::Result<bool> {
    let usual = Usual::now(&area.dir)?;
    usual.give(root, &fs::symlink_metadata(root)?)?;
    if area.keep == KeepFiles::Ignored {
        return Ok(true);
    }
    let (mut open, repository) = (vec![root.to_owned()], root.join(".git"));
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let found = fs::symlink_metadata(&path)?;
            if path == repository || found.is_symlink() {
                continue;
            }
            if found.is_file() && found.nlink() > 1 {
                return Ok(false);
            }
            usual.give(&path, &found)?;
            if found.is_dir() {
                open.push(path);
            }
        }
    }
    Ok(true)
}

/// The modes that this process, and a git that it starts, gives to what it makes.
struct Usual {
    folder: u32,
}

impl Usual {
    /// Found by trying: asking for the mask would change it for a moment, for all threads.
    fn now(dir: &Path) -> io::Result<Self> {
        let probe = dir.join(unique_name(Path::new("mode")));
        let made = OpenOptions::new().write(true).create_new(true).mode(0o777).open(&probe)?;
        fs::remove_file(&probe)?;
        Ok(Self { folder: made.metadata()?.mode() & ALL_BITS })
    }

    fn of(&self, found: &Metadata) -> u32 {
        match (found.is_dir(), found.mode() & RUNNABLE) {
            (true, _) => self.folder,
            (false, 0) => self.folder & 0o666,
            (false, _) => self.folder & 0o777,
        }
    }

    /// Whatever may have come to this place since it was looked at keeps its mode: it may be a link to a file of the
    /// user's.
    fn give(&self, path: &Path, found: &Metadata) -> io::Result<()> {
        let usual = self.of(found);
        if found.mode() & ALL_BITS == usual {
            return Ok(());
        }
        let file = OpenOptions::new().read(true).custom_flags(NO_LINK).open(path)?;
        let opened = file.metadata()?;
        if (opened.dev(), opened.ino()) != (found.dev(), found.ino()) {
            return Err(io::Error::other("it was replaced"));
        }
        file.set_permissions(Permissions::from_mode(usual))
    }
}
