//! When an operation that has changed nothing is tried again.

use std::time::Duration;

use crate::StoreError;
use crate::store::BUSY_TIMEOUT;

/// How often conflicts between transactions are retried; each time the other one has made progress. A pool has fewer
/// connections that may have been lost while they were idle.
const ATTEMPTS: u64 = 20;
/// Lost connections are replaced at once or not at all: a caller of a dead server wants to know.
const LOST: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: u64 = 500;

/// How long to wait before the next attempt; none if there should be no further one.
pub(super) fn pause(error: &StoreError, attempt: u64, waited: Duration) -> Option<Duration> {
    let (is_worth_it, millis) = match error {
        // A failover takes a while.
        StoreError::Unavailable { .. } => (waited < BUSY_TIMEOUT, (attempt * attempt).min(LONGEST_PAUSE)),
        StoreError::Unreachable { .. } => (attempt < ATTEMPTS && waited < LOST, attempt),
        _ => (attempt < ATTEMPTS, attempt),
    };
    is_worth_it.then_some(Duration::from_millis(millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failover_is_waited_out_and_a_silent_server_is_not() {
        let (at, why) = (String::new, String::new);
        let unavailable = StoreError::Unavailable { at: at(), why: why() };
        let unreachable = StoreError::Unreachable { at: at(), why: why() };
        let seconds = Duration::from_secs;
        assert_eq!(pause(&unavailable, 1_000, seconds(29)), Some(Duration::from_millis(500)));
        assert_eq!(pause(&unavailable, 1, seconds(30)), None);
        assert_eq!(pause(&unreachable, 2, Duration::ZERO), Some(Duration::from_millis(2)));
        assert_eq!(pause(&unreachable, 2, seconds(60)), None);
        assert_eq!(pause(&StoreError::Changed, 19, seconds(60)), Some(Duration::from_millis(19)));
        assert_eq!(pause(&StoreError::Changed, 20, Duration::ZERO), None);
    }
}
