//! Keeps the write-ahead log small.
//!
//! SQLite's own way does not do here, so it is switched off. It begins the log anew only in a moment in which
//! nobody reads from it, which never comes where somebody always does. And it forgets how much of the log is
//! merged when the last process closes the file, so that commands which come and go one by one would make it
//! longer and longer, and each of them reads all of it when it opens the file. So whoever has just written looks
//! at its size, merges it and cuts it off. New readers find everything in the file and are not in the way.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use super::connection::beside;

/// For a command that is alone: the next one reads it in a fraction of a millisecond.
const SMALL: u64 = 512 << 10;
/// For a process that goes on writing: its merges cost syncs, and beside it nobody reads the whole log.
const USUAL: u64 = 4 << 20;
/// So many commits make a process one that goes on writing.
const FEW: u32 = 8;
/// From here on those who read are waited for: all writers wait meanwhile, as long as the longest read takes.
const LARGE: u64 = 16 << 20;
/// A read that takes longer, or a reader that is frozen, is left alone by this process until the log has grown by
/// [`STEP`].
const GRACE: Duration = Duration::from_millis(250);
const STEP: u64 = 1 << 20;

pub(super) struct Log {
    path: PathBuf,
    commits: u32,
    /// Not merged below this size, because it did not work just now.
    not_below: u64,
}

impl Log {
    pub(super) fn of(database: &Path) -> Self {
        Self { path: beside(database, "-wal"), commits: 0, not_below: 0 }
    }

    /// Empties the log if it has grown. Called by the holder of the lock, outside of a transaction.
    pub(super) fn tend(&mut self, connection: &Connection) {
        self.commits = self.commits.saturating_add(1);
        let tolerated = if self.commits > FEW { USUAL } else { SMALL };
        let size = std::fs::metadata(&self.path).map_or(0, |file| file.len());
        if size < tolerated.max(self.not_below) {
            return;
        }
        let grace = if size >= LARGE { GRACE } else { Duration::ZERO };
        // What fails here is tried again later, and the change that was just made is safe in the log.
        let _ = connection.busy_timeout(grace);
        let emptied = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
        let _ = connection.busy_timeout(crate::store::PATIENCE);
        self.not_below = if emptied == Ok(0) { 0 } else { size + STEP };
    }
}
