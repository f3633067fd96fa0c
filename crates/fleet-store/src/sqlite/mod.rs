//! SQLite: one file, many processes.
//!
//! Owns the file, its lock and its wake file. Writes of a process go through one thread that joins many operations into
//! one commit ([`writer`]); readers have their own connections. Between processes a lock file is taken around every
//! write transaction: the kernel queues the waiters and wakes them at once, where SQLite's own busy handler would sleep
//! and starve them.

mod connection;
mod failure;
mod holder;
mod lock;
mod log;
mod reader;
mod tx;
mod wake;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::tx::{AnyOp, AnyOut, Mode};
use crate::{StoreError, Watch, migrate};

#[derive(Clone)]
pub(crate) struct Sqlite {
    shared: Arc<SqliteShared>,
}

struct SqliteShared {
    path: PathBuf,
    readers: Arc<reader::Readers>,
    /// Started by the first write: most commands only read.
    writer: OnceLock<writer::Writer>,
    lock: Arc<holder::LockWatch>,
}

impl Sqlite {
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        connection::prepare_files(path)?;
        let connection = connection::open(path)?;
        if connection::schema_version(&connection, path)? != migrate::LATEST {
            connection::migrate(&connection, path)?;
        }
        let shared = SqliteShared {
            path: path.to_owned(),
            readers: Arc::new(reader::Readers::new(path.to_owned(), connection)),
            writer: OnceLock::new(),
            lock: Arc::new(holder::LockWatch::of(path)),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    pub(crate) async fn call(&self, op: Box<dyn AnyOp>) -> Result<AnyOut, StoreError> {
        match op.mode() {
            Mode::Read => self.shared.readers.call(op.as_ref()),
            Mode::Write => self.writer().call(op).await,
        }
    }

    fn writer(&self) -> &writer::Writer {
        let SqliteShared { path, readers, writer, lock } = &*self.shared;
        writer.get_or_init(|| writer::Writer::start(path.clone(), Arc::clone(readers), Arc::clone(lock)))
    }

    pub(crate) fn set_lease(&self, lease: Duration) {
        self.shared.lock.set_lease(lease);
    }

    pub(crate) fn stopped_holder(&self) -> Option<String> {
        self.shared.lock.stopped_holder()
    }

    pub(crate) fn watch(&self) -> Result<Watch, StoreError> {
        wake::watch(&self.shared.path)
    }

    pub(crate) fn describe(&self) -> String {
        let path = self.shared.path.display();
        format!("SQLite {} at {path}, schema {}", rusqlite::version(), migrate::LATEST)
    }

    pub(crate) fn check(&self) -> Result<Vec<String>, StoreError> {
        self.shared.readers.with(|connection| {
            let mut statement = connection.prepare("PRAGMA quick_check")?;
            let findings = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
            Ok(findings.into_iter().filter(|finding| finding != "ok").collect())
        })
    }
}
