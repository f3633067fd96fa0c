//! Opening the file: private permissions, the right settings, the schema.

use std::fs::{DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::failure::{explain, explain_io};
use crate::dialect::Dialect;
use crate::{StoreError, migrate};

/// "flee", so that another program's database is never taken for ours.
const APPLICATION_ID: i64 = 0x666c_6565;

/// A file beside the database, `fleet.db.lock` for example.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Creates the folder and the file with private permissions, if they do not exist. SQLite gives the files that
/// it makes beside the database the same permissions.
pub(super) fn prepare_files(path: &Path) -> Result<(), StoreError> {
    if path.exists() {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(|error| explain_io(&error, folder))?;
    }
    open_private(path).map(drop)
}

pub(super) fn open_private(path: &Path) -> Result<File, StoreError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map_err(|error| explain_io(&error, path))
}

#[expect(clippy::disallowed_methods, reason = "this is the home of SQLite connections")]
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    let explained = |error: rusqlite::Error| explain(&error, path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(explained)?;
    configure(&connection).map_err(explained)?;
    Ok(connection)
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(crate::store::BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(128);
    // Closing the last connection would merge and delete the WAL: three more syncs for every command.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Otherwise every statement with a parameter after LIMIT is replanned at each use, for the current value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // Writers keep the log small (see `log`).
    connection.pragma_update(None, "wal_autocheckpoint", 0)
}

/// The version of the schema, 0 for a new file; refuses files of other programs and of newer versions.
pub(super) fn schema_version(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let (version, application, objects) = look(connection).map_err(|error| explain(&error, path))?;
    match version {
        0 if objects == 0 => Ok(0),
        // Before the version, which means nothing in a file of another program.
        _ if version == 0 || application != APPLICATION_ID => Err(foreign(path)),
        _ if version > migrate::LATEST => {
            Err(StoreError::TooNew { at: path.display().to_string(), found: version, known: migrate::LATEST })
        }
        _ => Ok(version),
    }
}

/// Version, program, and for a file without a version the number of its tables. In one transaction, so that all of
/// it is of one moment: another process may just be making the schema, and its tables under a version that was
/// read before would look like those of another program.
fn look(connection: &Connection) -> rusqlite::Result<(i64, i64, i64)> {
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get(0));
    // A migration reads it from inside its transaction.
    let transaction = connection.is_autocommit().then(|| connection.unchecked_transaction()).transpose()?;
    let version = pragma("user_version")?;
    let objects = match version {
        0 => connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?,
        _ => 0,
    };
    let application = pragma("application_id")?;
    transaction.map_or(Ok(()), rusqlite::Transaction::rollback)?;
    Ok((version, application, objects))
}

fn foreign(path: &Path) -> StoreError {
    StoreError::Corrupt {
        at: path.display().to_string(),
        why: "it is a database of another program".to_owned(),
    }
}

/// Brings the schema up to date. Many processes may try at once: the lock file lets one do it.
pub(super) fn migrate(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let _lock = super::lock::wait(&beside(path, ".lock"))?;
    let explained = |error: rusqlite::Error| explain(&error, path);
    use_log(connection).map_err(explained)?;
    connection.execute_batch("BEGIN IMMEDIATE").map_err(explained)?;
    let applied = apply_missing(connection, path);
    applied.and_then(|()| connection.execute_batch("COMMIT").map_err(explained)).inspect_err(|_| {
        // The engine may have rolled back by itself (a full disk); the cause is what the caller gets.
        if !connection.is_autocommit() {
            let _ = connection.execute_batch("ROLLBACK");
        }
    })
}

/// A reader of a file whose maker was killed holds a lock for a moment, to clear away what that one left, and SQLite
/// does not wait for this lock here as it does elsewhere.
fn use_log(connection: &Connection) -> rusqlite::Result<()> {
    const OPEN_TRIES: u32 = 200;
    const PAUSE: Duration = Duration::from_millis(5);
    let attempt = || connection.pragma_update(None, "journal_mode", "WAL");
    for _ in 1..OPEN_TRIES {
        match attempt() {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                std::thread::sleep(PAUSE);
            }
            result => return result,
        }
    }
    attempt()
}

fn apply_missing(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let explained = |error: rusqlite::Error| explain(&error, path);
    // Asked again under the lock: another process may just have done it.
    let version = schema_version(connection, path)?;
    for migration in migrate::after(version) {
        connection.execute_batch(&Dialect::Sqlite.adapt(migration.sql)).map_err(explained)?;
        connection.pragma_update(None, "user_version", migration.version).map_err(explained)?;
    }
    connection.pragma_update(None, "application_id", APPLICATION_ID).map_err(explained)
}
