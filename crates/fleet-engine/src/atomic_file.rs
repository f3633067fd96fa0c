//! Changes a file so that no reader ever sees half of it.
//!
//! Owns the lock between writers and the exchange of the whole file at once. Must never know what is in the file.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown,
};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags};

/// As many links as the kernel follows.
const LINKS: usize = 40;

/// The right to change a file. Others wait until it is dropped.
pub(crate) struct AtomicFile {
    /// The file itself, where the path was a link.
    target: PathBuf,
    lock: PathBuf,
    _held: File,
}

impl AtomicFile {
    /// Waits for the right, and makes the folder when it is missing.
    pub(crate) fn acquire(path: &Path) -> io::Result<Self> {
        let target = followed(path)?;
        DirBuilder::new().recursive(true).mode(0o700).create(folder(&target))?;
        let lock = beside(&target, "lock")?;
        loop {
            let held = open_lock(&lock)?;
            rustix::io::retry_on_intr(|| rustix::fs::flock(&held, FlockOperation::LockExclusive))?;
            // The one before took the lock file away when it was done: then this lock guards nothing.
            if is_still_there(&held, &lock)? {
                return Ok(Self { target, lock, _held: held });
            }
        }
    }

    /// Exchanges the content. When it fails, the old content is still there.
    pub(crate) fn replace(&self, text: &str) -> io::Result<()> {
        // The lock makes the name ours, so an existing file was left by a crash.
        let fresh = beside(&self.target, "new")?;
        remove(&fresh)?;
        let written = self.write(&fresh, text).and_then(|()| fs::rename(&fresh, &self.target));
        if let Err(error) = written {
            // The first error is the one to tell; a file left behind is removed by the next writer.
            let _ = remove(&fresh);
            return Err(error);
        }
        sync_folder(&folder(&self.target))
    }

    pub(crate) fn remove(&self) -> io::Result<()> {
        remove(&self.target)?;
        sync_folder(&folder(&self.target))
    }

    fn write(&self, fresh: &Path, text: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(fresh)?;
        match fs::metadata(&self.target) {
            Ok(old) => keep_owner_and_mode(&file, &old)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }
}

impl Drop for AtomicFile {
    /// A lock file that stays behind does no harm, so a failure needs no telling.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.lock);
    }
}

/// The link that a write to this file would follow, if there is one. One that came with a repository could lead anywhere;
/// the user's own are followed.
pub(crate) fn link_at(path: &Path) -> Option<&Path> {
    let is_link = |path: &&Path| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    [Some(path), path.parent()].into_iter().flatten().find(is_link)
}

/// Never through a link: in a folder that came with a repository it could lead anywhere.
fn open_lock(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?.into())
}

fn is_still_there(held: &File, path: &Path) -> io::Result<bool> {
    let held = held.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (held.dev(), held.ino())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// With `sudo` the new file would otherwise belong to root, and its owner could not read it any more.
fn keep_owner_and_mode(file: &File, old: &fs::Metadata) -> io::Result<()> {
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        fchown(file, Some(old.uid()), Some(old.gid()))?;
    }
    file.set_permissions(Permissions::from_mode(old.mode() & 0o777))
}

/// Where the links lead, even when nothing is there yet.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = folder(&path).join(target),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidInput) => {
                return Ok(path);
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::from(rustix::io::Errno::LOOP))
}

fn folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// A hidden file next to it: `.config.toml.lock`.
fn beside(path: &Path, ending: &str) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(".");
    hidden.push(ending);
    Ok(path.with_file_name(hidden))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Some network file systems cannot sync a folder, and say so; the file is in place by then.
fn sync_folder(path: &Path) -> io::Result<()> {
    match File::open(path)?.sync_all() {
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}
