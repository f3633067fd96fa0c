//! Whether keepers can be started here at all.
//!
//! Owns the pauses of a runner whose keepers do not begin: a binary that was replaced by a broken one, a machine
//! without memory. Such a runner would otherwise go through the whole queue in no time.

use std::time::Duration;

use fleet_core::backoff::Backoff;

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// Tasks that are tried while none begins. Two, so that one that could never begin does not keep the others waiting.
const MAX_CANDIDATES: usize = 2;

/// What became of the keepers that were started last.
pub(super) struct Starts {
    backoff: Backoff,
}

impl Default for Starts {
    fn default() -> Self {
        Self { backoff: Backoff::new(FIRST_PAUSE, LONGEST_PAUSE) }
    }
}

impl Starts {
    /// How many may be started now, if there are this many free slots.
    pub(super) fn allowed(&self, free: usize, now: Duration) -> usize {
        match (self.backoff.has_failed(), self.backoff.is_due(now)) {
            (false, _) => free,
            (true, true) => free.min(MAX_CANDIDATES),
            (true, false) => 0,
        }
    }

    /// One did not begin; returns the pause from now on. Several that were started together count once.
    pub(super) fn failed(&mut self, now: Duration) -> Duration {
        if self.backoff.has_failed() && !self.backoff.is_due(now) {
            return self.backoff.pause(now);
        }
        self.backoff.failed(now)
    }

    pub(super) fn begun(&mut self) {
        self.backoff.succeeded();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runner_whose_keepers_do_not_begin_tries_ever_less() {
        let (mut starts, second) = (Starts::default(), Duration::from_secs(1));
        assert_eq!(starts.allowed(8, second), 8);
        assert_eq!(starts.failed(second), second);
        starts.failed(second);
        assert_eq!(
            (starts.allowed(8, second), starts.allowed(8, second * 2)),
            (0, MAX_CANDIDATES),
            "counted once"
        );
        assert_eq!(starts.failed(second * 2), second * 2);
        assert_eq!(starts.failed(second * 2), second * 2, "the pause that is kept, not the first one");
        assert_eq!(starts.allowed(8, second * 3), 0);
        starts.begun();
        assert_eq!(starts.allowed(8, second * 3), 8);
    }
}
