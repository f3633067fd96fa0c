//! When something that keeps failing is tried again.

use std::time::Duration;

/// Pauses that double with each failure in a row. Time is any clock that only goes forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    failures: u32,
    not_before: Duration,
}

impl Backoff {
    /// The first try may be made at once.
    pub const fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest, failures: 0, not_before: Duration::ZERO }
    }

    pub fn is_due(&self, now: Duration) -> bool {
        now >= self.not_before
    }

    /// Time until the next try.
    pub fn pause(&self, now: Duration) -> Duration {
        self.not_before.saturating_sub(now)
    }

    pub const fn has_failed(&self) -> bool {
        self.failures > 0
    }

    /// Records a failure; returns the pause.
    pub fn failed(&mut self, now: Duration) -> Duration {
        let factor = 2_u32.saturating_pow(self.failures);
        let pause = self.first.saturating_mul(factor).min(self.longest);
        self.failures = self.failures.saturating_add(1);
        self.not_before = now.saturating_add(pause);
        pause
    }

    /// The next failure counts as the first.
    pub fn succeeded(&mut self) {
        *self = Self::new(self.first, self.longest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn pauses_double_up_to_a_bound_and_begin_again_after_a_success() {
        let mut backoff = Backoff::new(SECOND, SECOND * 5);
        assert!(backoff.is_due(Duration::ZERO) && !backoff.has_failed());
        let pauses: Vec<_> = (0..4).map(|_| backoff.failed(SECOND * 10)).collect();
        assert_eq!(pauses, [SECOND, SECOND * 2, SECOND * 4, SECOND * 5]);
        assert!(!backoff.is_due(SECOND * 14) && backoff.is_due(SECOND * 15));
        assert_eq!((backoff.pause(SECOND * 11), backoff.pause(SECOND * 20)), (SECOND * 4, Duration::ZERO));
        for _ in 0..100 {
            backoff.failed(SECOND);
        }
        backoff.succeeded();
        assert!(backoff.is_due(Duration::ZERO) && !backoff.has_failed());
        assert_eq!(backoff.failed(SECOND), SECOND);
    }
}
