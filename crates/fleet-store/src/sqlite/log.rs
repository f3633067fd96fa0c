//! Keeps the write-ahead log small.
//!
//! SQLite's own way does not do here, so it is switched off. It begins the log anew only in a moment in which
//! nobody reads from it, which never comes where somebody always does. And it forgets how much of the log is
//! merged when the last process closes the file, so that commands which come and go one by one would make it
//! longer and longer, and each of them reads all of it when it opens the file. So whoever has just written looks
//! at its size, merges it and cuts it off. New readers find everything in the file and are not in the way. Where a process
//! goes on writing, such as a runner, it does that for all: a command of a person does not wait for it.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use super::connection::{beside, open_private};
use super::lock::WriteLock;

/// For a command that is alone: the next one reads it in a fraction of a millisecond.
const SMALL: u64 = 512 << 10;
/// For a process that goes on writing: its merges cost syncs, and beside it nobody reads the whole log.
const USUAL: u64 = 4 << 20;
/// After this many commits a process counts as one that keeps writing.
const FEW: u32 = 8;
/// From here on those who read are waited for: all writers wait meanwhile, as long as the longest read takes.
const LARGE: u64 = 16 << 20;
/// A read that takes longer, or a reader that is frozen, is left alone by this process until the log has grown by
/// [`STEP`].
const GRACE: Duration = Duration::from_millis(250);
const STEP: u64 = 1 << 20;

pub(super) struct Log {
    path: PathBuf,
    /// Locked, by many, as long as there are processes that go on writing.
    tended: PathBuf,
    /// The share of this process.
    share: Option<File>,
    commits: u32,
    /// Not merged below this size, because it did not work just now.
    not_below: u64,
}

impl Log {
    pub(super) fn of(database: &Path) -> Self {
        let (path, tended) = (beside(database, "-wal"), beside(database, ".tended"));
        Self { path, tended, share: None, commits: 0, not_below: 0 }
    }

    /// Empties the log if it has grown, for a process that may end as soon as it has its answer. Called by the holder of
    /// the lock, outside of a transaction.
    pub(super) fn tend_now(&mut self, connection: &Connection) {
        self.commits = self.commits.saturating_add(1);
        if self.commits <= FEW && self.size() >= SMALL {
            let tolerated = if self.is_tended() { LARGE } else { SMALL };
            self.empty_from(tolerated, connection);
        }
    }

    /// Empties the log if it has grown, for a process that goes on writing. Most of it is merged without the lock, so
    /// that others can write meanwhile.
    pub(super) fn tend(&mut self, connection: &Connection, lock: &WriteLock) {
        if self.commits <= FEW {
            return;
        }
        if self.share.is_none() {
            self.share = shared(&self.tended);
        }
        if self.size() < USUAL.max(self.not_below) {
            return;
        }
        let _ = merge(connection, "PRAGMA wal_checkpoint(PASSIVE)");
        if let Ok(_held) = lock.hold() {
            self.empty_from(USUAL, connection);
        }
    }

    fn size(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |file| file.len())
    }

    /// Whether another process sees to it.
    fn is_tended(&self) -> bool {
        let file = File::open(&self.tended);
        file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }

    fn empty_from(&mut self, tolerated: u64, connection: &Connection) {
        let size = self.size();
        if size < tolerated.max(self.not_below) {
            return;
        }
        let grace = if size >= LARGE { GRACE } else { Duration::ZERO };
        // What fails here is tried again later, and the change that was just made is safe in the log.
        let _ = connection.busy_timeout(grace);
        let is_emptied = merge(connection, "PRAGMA wal_checkpoint(TRUNCATE)");
        let _ = connection.busy_timeout(crate::store::BUSY_TIMEOUT);
        self.not_below = if is_emptied { 0 } else { size + STEP };
    }
}

/// Whether nobody was in the way.
fn merge(connection: &Connection, pragma: &str) -> bool {
    connection.query_row(pragma, [], |row| row.get::<_, i64>(0)) == Ok(0)
}

fn shared(path: &Path) -> Option<File> {
    let file = open_private(path).ok()?;
    file.try_lock_shared().ok()?;
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::connection;

    struct Written {
        _dir: tempfile::TempDir,
        path: PathBuf,
        connection: Connection,
    }

    /// A database with a log of at least this size.
    fn written(size: u64) -> Written {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("fleet.db");
        connection::prepare_files(&path).unwrap();
        let connection = connection::open(&path).unwrap();
        connection::migrate(&connection, &path).unwrap();
        connection.execute_batch("CREATE TABLE blobs (content BLOB)").unwrap();
        while Log::of(&path).size() < size {
            connection.execute("INSERT INTO blobs VALUES (zeroblob(100000))", []).unwrap();
        }
        Written { _dir: dir, path, connection }
    }

    #[test]
    fn a_command_that_is_alone_leaves_a_small_log() {
        let written = written(SMALL);
        let mut log = Log::of(&written.path);
        log.tend_now(&written.connection);
        assert_eq!(log.size(), 0);
    }

    #[test]
    fn beside_a_process_that_goes_on_writing_a_command_leaves_the_log_to_it() {
        let written = written(USUAL);
        let lock = WriteLock::of(&written.path).unwrap();
        let (mut busy, mut command) = (Log::of(&written.path), Log::of(&written.path));
        busy.commits = FEW;
        busy.tend(&written.connection, &lock);
        assert!(busy.size() > 0, "it may still be a command");
        busy.share = shared(&busy.tended);
        command.tend_now(&written.connection);
        assert!(command.size() > 0);
        busy.tend_now(&written.connection);
        busy.tend(&written.connection, &lock);
        assert_eq!(busy.size(), 0);
        drop(busy);
        assert!(!command.is_tended());
    }
}
