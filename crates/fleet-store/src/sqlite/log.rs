//! Keeps the write-ahead log small.
//!
//! SQLite's own way does not do here, so it is switched off. It restarts the log only in a moment without readers,
//! which never comes on a busy store. And it forgets how much of the log is merged when the last process closes the
//! file, so that commands which come and go one by one would make it longer and longer, and each of them reads all of
//! it when it opens the file. So each writer checks its size, merges it and truncates it. New readers find everything
//! in the file and are not in the way. Where a process goes on writing, such as a runner, it does that for all: a
//! command of a person does not wait for it.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use super::connection::{beside, open_private};
use super::lock::WriteLock;

/// For a command that is alone: the next one reads it in a fraction of a millisecond.
const MERGE_AT_BYTES_ALONE: u64 = 512 << 10;
/// For a process that goes on writing: its merges cost syncs, and no other process reads the whole log.
const MERGE_AT_BYTES: u64 = 4 << 20;
/// After this many commits a process counts as one that keeps writing.
const MANY_COMMITS: u32 = 8;
/// From this size on a merge waits for readers: all writers wait meanwhile, as long as the longest read takes.
const WAIT_AT_BYTES: u64 = 16 << 20;
/// If a read takes longer, or a reader is frozen, this process tries again only when the log has grown by
/// [`GROWTH_BYTES`].
const READER_TIMEOUT: Duration = Duration::from_millis(250);
const GROWTH_BYTES: u64 = 1 << 20;

pub(super) struct WriteAheadLog {
    path: PathBuf,
    /// Locked, by many, as long as there are processes that go on writing.
    tended: PathBuf,
    /// The share of this process.
    share: Option<File>,
    commits: u32,
    /// Not merged below this size, because it did not work just now.
    not_below: u64,
}

impl WriteAheadLog {
    pub(super) fn of(database: &Path) -> Self {
        let (path, tended) = (beside(database, "-wal"), beside(database, ".tended"));
        Self { path, tended, share: None, commits: 0, not_below: 0 }
    }

    /// Empties the log if it has grown, for a process that may end as soon as it has its answer. Called by the holder of
    /// the lock, outside of a transaction.
    pub(super) fn tend_now(&mut self, connection: &Connection) {
        self.commits = self.commits.saturating_add(1);
        if self.commits <= MANY_COMMITS && self.size() >= MERGE_AT_BYTES_ALONE {
            let tolerated = if self.is_tended() { WAIT_AT_BYTES } else { MERGE_AT_BYTES_ALONE };
            self.empty_from(tolerated, connection);
        }
    }

    /// Empties the log if it has grown, for a process that goes on writing. Most of it is merged without the lock, so
    /// that others can write meanwhile.
    pub(super) fn empty_if_grown(&mut self, connection: &Connection, lock: &WriteLock) {
        if self.commits <= MANY_COMMITS {
            return;
        }
        if self.share.is_none() {
            self.share = shared(&self.tended);
        }
        if self.size() < MERGE_AT_BYTES.max(self.not_below) {
            return;
        }
        let _ = merge(connection, "PRAGMA wal_checkpoint(PASSIVE)");
        if let Ok(_held) = lock.hold() {
            self.empty_from(MERGE_AT_BYTES, connection);
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
        let grace = if size >= WAIT_AT_BYTES { READER_TIMEOUT } else { Duration::ZERO };
        // What fails here is tried again later, and the change that was just made is safe in the log.
        let _ = connection.busy_timeout(grace);
        let is_emptied = merge(connection, "PRAGMA wal_checkpoint(TRUNCATE)");
        let _ = connection.busy_timeout(crate::store::BUSY_TIMEOUT);
        self.not_below = if is_emptied { 0 } else { size + GROWTH_BYTES };
    }
}

/// Whether no reader or writer was in the way.
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
        while WriteAheadLog::of(&path).size() < size {
            connection.execute("INSERT INTO blobs VALUES (zeroblob(100000))", []).unwrap();
        }
        Written { _dir: dir, path, connection }
    }

    #[test]
    fn a_command_that_is_alone_leaves_a_small_log() {
        let written = written(MERGE_AT_BYTES_ALONE);
        let mut log = WriteAheadLog::of(&written.path);
        log.tend_now(&written.connection);
        assert_eq!(log.size(), 0);
    }

    #[test]
    fn beside_a_process_that_goes_on_writing_a_command_leaves_the_log_to_it() {
        let written = written(MERGE_AT_BYTES);
        let lock = WriteLock::of(&written.path).unwrap();
        let (mut busy, mut command) = (WriteAheadLog::of(&written.path), WriteAheadLog::of(&written.path));
        busy.commits = MANY_COMMITS;
        busy.empty_if_grown(&written.connection, &lock);
        assert!(busy.size() > 0, "it may still be a command");
        busy.share = shared(&busy.tended);
        command.tend_now(&written.connection);
        assert!(command.size() > 0);
        busy.tend_now(&written.connection);
        busy.empty_if_grown(&written.connection, &lock);
        assert_eq!(busy.size(), 0);
        drop(busy);
        assert!(!command.is_tended());
    }
}
