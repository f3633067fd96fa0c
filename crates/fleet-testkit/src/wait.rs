//! Waiting for something that another process does.

use std::thread;
use std::time::{Duration, Instant};

/// Short enough that no test feels it, long enough that sixteen waiting tests leave the processor alone.
const INTERVAL: Duration = Duration::from_millis(5);

/// Returns as soon as `f` answers true; panics, naming `what`, when that took longer than `bound`.
///
/// The bound is an upper limit for slow machines, not an expected duration: a minute costs nothing when all
/// is well.
#[track_caller]
pub fn wait_until(bound: Duration, what: &str, mut f: impl FnMut() -> bool) {
    assert!(becomes_true(bound, &mut f), "waited {bound:?} in vain for: {what}");
}

/// Polls until `f` answers true. False when the bound has passed; `f` is asked at least once, and once at the
/// end.
pub(crate) fn becomes_true(bound: Duration, mut f: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + bound;
    loop {
        let last = Instant::now() >= deadline;
        if f() {
            return true;
        }
        if last {
            return false;
        }
        thread::sleep(INTERVAL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_once_the_condition_holds() {
        let mut asked = 0;
        wait_until(Duration::from_mins(1), "three questions", || {
            asked += 1;
            asked == 3
        });
        assert_eq!(asked, 3);
    }

    #[test]
    #[should_panic(expected = "waited 10ms in vain for: the impossible")]
    fn names_what_never_came() {
        wait_until(Duration::from_millis(10), "the impossible", || false);
    }
}
