//! Waiting for changes that come without a notification.
//!
//! Owns the deadlines of this crate and the pauses between two looks. Must never decide how long is long enough:
//! that comes in as an argument.

use std::thread;
use std::time::{Duration, Instant};

/// The first pause. What is waited for has often happened by the time of the second look.
const FIRST: Duration = Duration::from_millis(1);

/// A wait with a limit; the pauses grow while nothing happens.
#[derive(Debug)]
pub(crate) struct BoundedWait {
    begun: Instant,
    bound: Duration,
    pause: Duration,
    longest: Duration,
}

impl BoundedWait {
    /// Waits no longer than `bound`, and never pauses for longer than `longest`.
    #[expect(clippy::disallowed_methods, reason = "deadlines belong to those who wait")]
    pub(crate) fn new(bound: Duration, longest: Duration) -> Self {
        Self { begun: Instant::now(), bound, pause: FIRST.min(longest), longest }
    }

    /// The remaining time.
    pub(crate) fn left(&self) -> Duration {
        self.bound.saturating_sub(self.begun.elapsed())
    }

    /// Sleeps for a moment. False, and without a sleep, when the time is over.
    pub(crate) fn pause(&mut self) -> bool {
        let left = self.left();
        if left.is_zero() {
            return false;
        }
        thread::sleep(self.pause.min(left));
        self.pause = (self.pause * 2).min(self.longest);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_when_the_time_is_over() {
        let mut patience = BoundedWait::new(Duration::from_millis(20), Duration::from_millis(5));
        let mut pauses = 0;
        while patience.pause() {
            pauses += 1;
        }
        assert!(pauses >= 1);
        assert_eq!(patience.left(), Duration::ZERO);
    }

    #[test]
    fn no_time_is_no_pause() {
        assert!(!BoundedWait::new(Duration::ZERO, Duration::from_secs(1)).pause());
    }
}
