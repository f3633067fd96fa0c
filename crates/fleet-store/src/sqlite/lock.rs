//! The lock between processes that write. The kernel queues waiters, and frees it when its holder dies.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use super::connection::{beside, open_private};
use super::failure::explain_io;
use super::holder::busy;
use crate::StoreError;
use crate::store::BUSY_TIMEOUT;

/// A process that writes without end lets others go first for this long: time enough to wake up.
const YIELD: Duration = Duration::from_millis(1);

/// The lock, and a second one that every waiter shares. The kernel wakes the waiters, but a running process takes the
/// lock again before they do: so a process that keeps writing checks whether others wait. A waiter that is frozen slows
/// such a process down, but blocks no one.
pub(super) struct WriteLock {
    lock: File,
    wanted: File,
    path: PathBuf,
}

impl WriteLock {
    pub(super) fn of(database: &Path) -> Result<Self, StoreError> {
        let lock = open_private(&beside(database, ".lock"))?;
        let wanted = open_private(&beside(database, ".wanted"))?;
        Ok(Self { lock, wanted, path: database.to_owned() })
    }

    pub(super) fn hold(&self) -> Result<HeldLock<'_>, StoreError> {
        let take = || -> Result<(), Errno> {
            if try_lock(&self.lock)? {
                return Ok(());
            }
            flock(&self.wanted, FlockOperation::LockShared)?;
            let held = flock(&self.lock, FlockOperation::LockExclusive);
            unlock(&self.wanted);
            held
        };
        take().map_err(|error| explain_io(&error.into(), &self.path))?;
        Ok(HeldLock(&self.lock))
    }

    /// Whether another process waits.
    pub(super) fn is_wanted(&self) -> bool {
        let is_free = try_lock(&self.wanted) == Ok(true);
        if is_free {
            unlock(&self.wanted);
        }
        !is_free
    }

    /// Lets waiting processes write.
    pub(super) fn yield_to_waiters(&self) {
        if self.is_wanted() {
            std::thread::sleep(YIELD);
        }
    }
}

/// The lock, until it is dropped.
pub(super) struct HeldLock<'a>(&'a File);

impl Drop for HeldLock<'_> {
    fn drop(&mut self) {
        unlock(self.0);
    }
}

/// Waits for the lock in its own file; for the schema, which is changed before there is a writer.
pub(super) fn wait(path: &Path) -> Result<File, StoreError> {
    const PAUSE: Duration = Duration::from_millis(5);
    let file = open_private(path)?;
    for _ in 0..BUSY_TIMEOUT.as_millis() / PAUSE.as_millis() {
        if try_lock(&file).map_err(|error| explain_io(&error.into(), path))? {
            return Ok(file);
        }
        std::thread::sleep(PAUSE);
    }
    Err(busy(path))
}

fn try_lock(file: &File) -> Result<bool, Errno> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error),
    }
}

fn unlock(file: &File) {
    // Cannot fail for a lock that is held; closing the file would free it anyway.
    let _ = rustix::fs::flock(file, FlockOperation::Unlock);
}

fn flock(file: &File, operation: FlockOperation) -> Result<(), Errno> {
    loop {
        match rustix::fs::flock(file, operation) {
            Err(Errno::INTR) => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const GUESTS: usize = 20;

    /// Two files are two holders, as two processes are.
    #[test]
    fn a_writer_without_end_lets_others_in() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("fleet.db");
        let busy = WriteLock::of(&path).unwrap();
        let (rounds, guests) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while guests.load(Ordering::SeqCst) < GUESTS {
                    let held = busy.hold().unwrap();
                    std::thread::sleep(Duration::from_micros(200));
                    drop(held);
                    rounds.fetch_add(1, Ordering::SeqCst);
                    busy.yield_to_waiters();
                }
            });
            scope.spawn(|| {
                let guest = WriteLock::of(&path).unwrap();
                for _ in 0..GUESTS {
                    drop(guest.hold().unwrap());
                    guests.fetch_add(1, Ordering::SeqCst);
                }
            });
        });
        let rounds = rounds.load(Ordering::SeqCst);
        assert!(rounds < GUESTS * 50, "each guest waited for {} rounds", rounds / GUESTS);
    }

    #[test]
    fn nobody_is_waited_for_who_does_not_come() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("fleet.db");
        let lock = WriteLock::of(&path).unwrap();
        drop(lock.hold().unwrap());
        assert!(try_lock(&lock.wanted).unwrap(), "nobody wants it");
        unlock(&lock.wanted);
        // As somebody has it who is frozen while it waits.
        let frozen = WriteLock::of(&path).unwrap();
        flock(&frozen.wanted, FlockOperation::LockShared).unwrap();
        lock.yield_to_waiters();
        drop(lock.hold().unwrap());
    }
}
