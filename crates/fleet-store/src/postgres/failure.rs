//! PostgreSQL's error codes, turned into what a person can act on.

use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;

use crate::StoreError;

/// The whole chain: the outermost message alone is often just "db error".
pub(super) fn describe(error: &(dyn std::error::Error + 'static)) -> String {
    let chain = std::iter::successors(Some(error), |error| error.source());
    let mut parts: Vec<String> = Vec::new();
    for part in chain.map(ToString::to_string) {
        if !parts.iter().any(|earlier| earlier.contains(&part)) {
            parts.push(part);
        }
    }
    parts.join(": ")
}

pub(super) fn explain(error: &tokio_postgres::Error, place: &str) -> StoreError {
    let Some(code) = error.code() else {
        return unreachable(error, place);
    };
    let at = place.to_owned();
    match *code {
        SqlState::T_R_SERIALIZATION_FAILURE
        | SqlState::T_R_DEADLOCK_DETECTED
        // Two processes drew the same id, or made the same thing first: the second look finds it.
        | SqlState::UNIQUE_VIOLATION => StoreError::Changed,
        // Only the schema makes tables, one process at a time and where there was none of ours.
        SqlState::DUPLICATE_TABLE => {
            StoreError::Corrupt { at, why: "it has tables of another program".to_owned() }
        }
        SqlState::DISK_FULL => StoreError::Full { at },
        SqlState::INSUFFICIENT_PRIVILEGE | SqlState::READ_ONLY_SQL_TRANSACTION => {
            StoreError::Unwritable { at, why: describe(error) }
        }
        SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => StoreError::Corrupt { at, why: describe(error) },
        SqlState::LOCK_NOT_AVAILABLE => StoreError::Busy { seconds: crate::store::PATIENCE.as_secs() },
        SqlState::ADMIN_SHUTDOWN
        | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
        | SqlState::CRASH_SHUTDOWN
        | SqlState::CANNOT_CONNECT_NOW
        | SqlState::TOO_MANY_CONNECTIONS
        | SqlState::INVALID_PASSWORD
        | SqlState::INVALID_AUTHORIZATION_SPECIFICATION
        | SqlState::INVALID_CATALOG_NAME => unreachable(error, place),
        _ => StoreError::Failed(describe(error)),
    }
}

fn unreachable(error: &tokio_postgres::Error, place: &str) -> StoreError {
    StoreError::Unreachable { at: place.to_owned(), why: describe(error) }
}

pub(super) fn explain_pool(error: &PoolError, place: &str) -> StoreError {
    match error {
        PoolError::Backend(error) => explain(error, place),
        PoolError::Timeout(deadpool_postgres::TimeoutType::Wait) => {
            StoreError::Busy { seconds: crate::store::PATIENCE.as_secs() }
        }
        PoolError::Timeout(_) => {
            StoreError::Unreachable { at: place.to_owned(), why: "no answer in time".to_owned() }
        }
        other => StoreError::Failed(other.to_string()),
    }
}
