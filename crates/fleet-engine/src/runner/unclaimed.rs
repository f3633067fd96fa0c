//! Ready tasks that a runner does not get, though it has room.
//!
//! Owns when that is reported: once, and only if it lasts. Other places may have what such tasks need, and a cap, a
//! pause or a file scope passes.

use std::time::Duration;

/// A task that a runner takes, or that may start soon, is not worth a line in the log.
const LOG_AFTER: Duration = Duration::from_mins(2);

/// Since when tasks are ready and none is claimed.
#[derive(Debug, Default)]
pub(super) struct Unclaimed {
    since: Option<Duration>,
    is_told: bool,
}

impl Unclaimed {
    /// Tasks are ready, and none was claimed. Whether now is the time to say so.
    pub(super) fn is_worth_telling(&mut self, now: Duration) -> bool {
        let since = *self.since.get_or_insert(now);
        let is_due = !self.is_told && now.saturating_sub(since) >= LOG_AFTER;
        self.is_told |= is_due;
        is_due
    }

    /// None is ready, or one was claimed.
    pub(super) fn is_over(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn told_once_and_only_if_it_lasts() {
        let (mut unclaimed, minute) = (Unclaimed::default(), Duration::from_mins(1));
        let mut told = |minutes: u32| unclaimed.is_worth_telling(minute * minutes);
        assert_eq!([told(5), told(6), told(7), told(8)], [false, false, true, false]);
        unclaimed.is_over();
        let mut told = |minutes: u32| unclaimed.is_worth_telling(minute * minutes);
        assert_eq!([told(9), told(11)], [false, true]);
    }
}
