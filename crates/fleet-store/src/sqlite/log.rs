//! Keeps the write-ahead log small.
//!
//! SQLite merges the log into the file by itself, but begins it anew only in a moment in which nobody reads
//! from it. Where somebody always does, such a moment never comes and the log grows for ever. So whoever has
//! just written looks at its size and, if it is large, waits for those who read: new ones find everything in
//! the file and are not in the way, so that takes as long as the longest read.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use super::connection::beside;

/// Far above the megabyte at which SQLite begins anew by itself when it can: all writers wait meanwhile.
const LARGE: u64 = 16 << 20;

/// A read that takes longer, or a reader that is frozen, is left alone by this process until the log has grown by
/// [`STEP`].
const GRACE: Duration = Duration::from_millis(250);
const STEP: u64 = LARGE / 4;

pub(super) struct Log {
    path: PathBuf,
    /// The size from which on it is emptied.
    large: u64,
}

impl Log {
    pub(super) fn of(database: &Path) -> Self {
        Self { path: beside(database, "-wal"), large: LARGE }
    }

    /// Empties the log if it is large. Called by the holder of the lock, outside of a transaction.
    pub(super) fn tend(&mut self, connection: &Connection) {
        // The file shrinks only when it is emptied, so it may be larger than the log in it; then this is quick.
        let size = std::fs::metadata(&self.path).map_or(0, |file| file.len());
        if size < self.large {
            return;
        }
        // What fails here is tried again later, and the change that was just made is safe in the log.
        let _ = connection.busy_timeout(GRACE);
        let emptied = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
        let _ = connection.busy_timeout(crate::store::PATIENCE);
        self.large = if emptied == Ok(0) { LARGE } else { size + STEP };
    }
}
