//! Locks between processes.
//!
//! Owns files that at most one process holds at a time, and that the kernel lets go of when that process ends, however
//! it ends. Must never trust the lock of a file that was deleted or replaced: it excludes no other process.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

use crate::bounded_wait::BoundedWait;
use crate::plain::NO_WAIT;

/// The longest pause between two attempts. There is no queue: the first process that tries after the release has the
/// lock.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// How long [`Exclusive::try_acquire`] insists. A lock can be taken for a moment without being held: by a process that
/// asks whether it is held, and by a child that a killed holder has forked and that is about to `exec`.
const TRY_TIMEOUT: Duration = Duration::from_millis(3);

/// More than such a file ever holds.
const LONGEST_CONTENT: usize = 4096;

/// A lock that is held until this is dropped or the process ends.
///
/// A process that the holder starts does not hold it, because the file is closed on `exec`.
#[derive(Debug)]
pub struct Exclusive {
    file: File,
}

/// Unlocks before closing: a child that another thread has just forked has the file open too, until its `exec`.
impl Drop for Exclusive {
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

impl Exclusive {
    /// Takes the lock, or returns `None` if another process has it. The file is made if there is none; its folder must
    /// exist.
    pub fn try_acquire(path: &Path) -> io::Result<Option<Self>> {
        Self::acquire(path, TRY_TIMEOUT)
    }

    /// Takes the lock, waiting at most this long.
    pub fn acquire(path: &Path, patience: Duration) -> io::Result<Option<Self>> {
        let mut patience = BoundedWait::new(patience, LONGEST_PAUSE);
        loop {
            let file = open_private(path)?;
            match file.try_lock() {
                // Otherwise the file was replaced between opening and locking, and others lock the new one.
                Ok(()) if is_at(&file, path)? => return Ok(Some(Self { file })),
                Ok(()) => file.unlock()?,
                Err(TryLockError::WouldBlock) => {
                    if !patience.pause() {
                        return Ok(None);
                    }
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    /// The lock for a process that is started with this file: it stays held until that one has ended, too.
    pub fn share(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Writes, in place of what the file said, what others should know of the holder.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.write_all_at(bytes, 0)
    }

    /// What was written, by this holder or by one before; its first 4 KiB.
    pub fn content(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; LONGEST_CONTENT];
        let mut length = 0;
        while let count @ 1.. = self.file.read_at(&mut bytes[length..], length as u64)? {
            length += count;
        }
        bytes.truncate(length);
        Ok(bytes)
    }

    /// Whether the file of this name is still the one that is locked.
    pub fn is_at(&self, path: &Path) -> bool {
        is_at(&self.file, path).unwrap_or(false)
    }

    /// Whether some process holds the lock. Makes no file.
    ///
    /// The answer is from a moment ago. It tells the dead from the living; it is no way to take turns.
    pub fn is_held(path: &Path) -> io::Result<bool> {
        let file = match OpenOptions::new().read(true).custom_flags(NO_WAIT).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        // Shared, so that several processes can ask at once.
        match file.try_lock_shared() {
            Ok(()) => file.unlock().map(|()| false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

fn open_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(NO_WAIT).open(path)
}

/// Whether the open file is the one that the path leads to.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let open = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok((open.dev(), open.ino()) == (named.dev(), named.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
