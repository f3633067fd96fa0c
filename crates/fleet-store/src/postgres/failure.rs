//! PostgreSQL's error codes, turned into what a person can act on.

use std::error::Error;
use std::io;
use std::pin::Pin;
use std::time::Duration;

use deadpool_postgres::PoolError;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;

use crate::StoreError;

/// Longer than any statement takes, waiting for locks included.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(1);

/// The server, as errors name it.
pub(super) struct ServerLabel {
    /// The URL without its secrets.
    pub(super) place: String,
    pub(super) answer_timeout: Duration,
}

impl ServerLabel {
    pub(super) fn at(place: String) -> Self {
        Self { place, answer_timeout: ANSWER_TIMEOUT }
    }
}

/// The whole chain: the outermost message alone is often just "db error".
pub(super) fn describe(error: &(dyn Error + 'static)) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in chain(error).map(ToString::to_string) {
        if !parts.iter().any(|earlier| earlier.contains(&part)) {
            parts.push(part);
        }
    }
    parts.join(": ")
}

fn chain<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (*error).source())
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
        SqlState::INSUFFICIENT_PRIVILEGE => StoreError::Unwritable { at, why: describe(error) },
        SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => StoreError::Corrupt { at, why: describe(error) },
        SqlState::LOCK_NOT_AVAILABLE => StoreError::Busy { seconds: crate::store::BUSY_TIMEOUT.as_secs(), holder: None },
        _ if is_passing(code) => StoreError::Unavailable { at, why: describe(error) },
        _ if ends_connection(code) => unreachable(error, place),
        SqlState::INVALID_PASSWORD
        | SqlState::INVALID_AUTHORIZATION_SPECIFICATION
        | SqlState::INVALID_CATALOG_NAME => unreachable(error, place),
        _ => StoreError::Failed(describe(error)),
    }
}

/// The server answers and cannot do it right now: it starts up, takes no changes yet after a failover, cancelled the
/// statement, or is short of memory or connections. Whatever it was asked for has not happened.
fn is_passing(code: &SqlState) -> bool {
    matches!(
        *code,
        SqlState::READ_ONLY_SQL_TRANSACTION
            | SqlState::QUERY_CANCELED
            | SqlState::CANNOT_CONNECT_NOW
            // A pooler between us and the server gave us another of its connections.
            | SqlState::INVALID_SQL_STATEMENT_NAME
    ) || code.code().starts_with("53")
}

/// The server, or something on the way to it, gave the connection up; a commit under way may or may not have happened.
fn ends_connection(code: &SqlState) -> bool {
    matches!(
        *code,
        SqlState::ADMIN_SHUTDOWN | SqlState::CRASH_SHUTDOWN | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
    ) || code.code().starts_with("08")
        || matches!(code.code(), "57P04" | "57P05" | "25P04")
}

/// Whether a connection could not be made for a reason that passes by itself.
pub(super) fn is_passing_refusal(error: &tokio_postgres::Error) -> bool {
    let is_backlog_full = || {
        let mut causes = chain(error).filter_map(|error| error.downcast_ref::<io::Error>());
        causes.any(|error| error.kind() == io::ErrorKind::WouldBlock)
    };
    error.code().is_some_and(is_passing) || is_backlog_full()
}

fn unreachable(error: &tokio_postgres::Error, place: &str) -> StoreError {
    StoreError::Unreachable { at: place.to_owned(), why: describe(error) }
}

pub(super) fn no_answer(place: &str, waited: Duration) -> StoreError {
    let why = format!(
        "no answer in {} seconds: the server or the way to it is stuck or overloaded",
        waited.as_secs()
    );
    StoreError::Unreachable { at: place.to_owned(), why }
}

/// Waits for the server's answer, but not forever: one that is frozen keeps its connections open. Boxed, or every
/// operation would carry the room for it along.
pub(super) async fn answered<T>(
    answer: Pin<Box<dyn Future<Output = Result<T, tokio_postgres::Error>> + Send + '_>>,
    server: &ServerLabel,
) -> Result<T, StoreError> {
    match timeout(server.answer_timeout, answer).await {
        Ok(answer) => answer.map_err(|error| explain(&error, &server.place)),
        Err(_) => Err(no_answer(&server.place, server.answer_timeout)),
    }
}

pub(super) fn explain_pool(error: &PoolError, place: &str, handshake: Duration) -> StoreError {
    match error {
        PoolError::Backend(error) => explain(error, place),
        PoolError::Timeout(deadpool_postgres::TimeoutType::Wait) => {
            StoreError::Busy { seconds: crate::store::BUSY_TIMEOUT.as_secs(), holder: None }
        }
        PoolError::Timeout(_) => no_answer(place, handshake),
        other => StoreError::Failed(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_is_told_from_what_was_lost_and_from_what_stays() {
        let kind = |code: &str| {
            let code = SqlState::from_code(code);
            (is_passing(&code), ends_connection(&code))
        };
        for passing in ["25006", "57014", "57P03", "53000", "53200", "53300", "53400", "26000"] {
            assert_eq!(kind(passing), (true, false), "{passing}");
        }
        for lost in ["57P01", "57P02", "57P04", "57P05", "25P03", "25P04", "08000", "08003", "08006", "08P01"]
        {
            assert_eq!(kind(lost), (false, true), "{lost}");
        }
        for other in ["42P01", "28P01", "3D000", "22001", "XX000"] {
            assert_eq!(kind(other), (false, false), "{other}");
        }
    }
}
