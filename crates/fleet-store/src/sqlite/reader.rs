//! Reads, on connections that are kept for reuse. The writer takes its own from here, too: a command that reads first
//! and then writes, as most do, opens the file once.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;

use super::connection;
use super::failure::explain;
use super::tx::{SqliteTx, finish};
use crate::StoreError;
use crate::tx::{AnyOp, AnyOut};

/// Idle connections beyond this are closed: a process reads with a few threads at most.
const MAX_IDLE: usize = 4;

pub(super) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(super) fn new(path: PathBuf, first: Connection) -> Self {
        Self { path, idle: Mutex::new(vec![first]) }
    }

    /// Runs a reading operation on the calling thread: it takes micro- to milliseconds, less than a hand-over.
    pub(super) fn call(&self, op: &dyn AnyOp) -> Result<AnyOut, StoreError> {
        let explained = |error: rusqlite::Error| explain(&error, &self.path);
        let mut connection = self.take()?;
        connection.execute_batch("BEGIN").map_err(explained)?;
        let result = finish(op.run(&mut SqliteTx::new(&mut connection, &self.path)));
        let ended = connection.execute_batch("ROLLBACK").map_err(explained);
        self.give_back(connection);
        let value = result?;
        ended.map(|()| value)
    }

    /// Runs something that is not an operation.
    pub(super) fn with<T>(
        &self,
        f: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let connection = self.take()?;
        let result = f(&connection).map_err(|error| explain(&error, &self.path));
        self.give_back(connection);
        result
    }

    pub(super) fn take(&self) -> Result<Connection, StoreError> {
        let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        kept.map_or_else(|| connection::open(&self.path), Ok)
    }

    pub(super) fn give_back(&self, connection: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // A connection that is still inside a transaction would pin an old state: better to close it.
        if idle.len() < MAX_IDLE && connection.is_autocommit() {
            idle.push(connection);
        }
    }
}
