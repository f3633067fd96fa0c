//! Ending a process that makes no progress.
//!
//! Owns the time limit on what a keeper, or its repair, does besides its agent. Reading a pipe without a writer, or a
//! disk that does not answer, never ends, and blocks the code that would notice: so a separate thread waits, and what
//! it calls ends the process. Must never bound the work of an agent, which has limits of its own.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use fleet_host::process::{Identity, ProcessTree};

/// The exit status of a process that was stuck: the same as that of a temporary failure in `sysexits.h`.
pub(crate) const STUCK_EXIT_CODE: i32 = 75;

/// Longer than any git command may take.
pub(crate) const LONGEST_STEP: Duration = Duration::from_mins(150);

/// Processes that a stuck one has started get this long to die.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// It mostly waits; at its end it reads the table of processes.
const STACK_BYTES: usize = 256 * 1024;

/// Watches over one step at a time, until it is dropped.
#[derive(Debug)]
pub(crate) struct StuckGuard {
    shared: Arc<GuardState>,
}

#[derive(Debug)]
struct GuardState {
    step: Mutex<WatchedStep>,
    changed: Condvar,
}

#[derive(Debug, Clone, Copy)]
enum WatchedStep {
    Bounded(Duration),
    /// Something else ends it.
    Unbounded,
    Over,
}

impl StuckGuard {
    /// `end` is called, once, when a step takes too long. Starts without a bound.
    pub(crate) fn new(end: impl FnOnce() + Send + 'static) -> std::io::Result<Self> {
        let shared =
            Arc::new(GuardState { step: Mutex::new(WatchedStep::Unbounded), changed: Condvar::new() });
        let watched = Arc::clone(&shared);
        let thread = thread::Builder::new().name("stuck".to_owned()).stack_size(STACK_BYTES);
        thread.spawn(move || {
            if watched.is_stuck() {
                end();
            }
        })?;
        Ok(Self { shared })
    }

    /// Ends this process, and all that it has started, when a step takes too long.
    pub(crate) fn of_this_process() -> std::io::Result<Self> {
        Self::new(|| {
            let me = Identity::current();
            let marker = ("FLEET_STUCK".to_owned(), me.pid.to_string());
            let tree = ProcessTree { root: me.clone(), marker, keeper: Some(me), group: None };
            let _ = tree.kill_now(KILL_TIMEOUT, &mut || {});
            std::process::exit(STUCK_EXIT_CODE)
        })
    }

    /// From now on, something that may take this long.
    pub(crate) fn within(&self, bound: Duration) {
        self.shared.change(WatchedStep::Bounded(bound));
    }

    /// From now on, something that has bounds of its own.
    pub(crate) fn pause(&self) {
        self.shared.change(WatchedStep::Unbounded);
    }
}

impl Drop for StuckGuard {
    fn drop(&mut self) {
        self.shared.change(WatchedStep::Over);
    }
}

impl GuardState {
    fn step(&self) -> MutexGuard<'_, WatchedStep> {
        self.step.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, step: WatchedStep) {
        *self.step() = step;
        self.changed.notify_all();
    }

    /// Waits until a step takes too long, or all are over.
    fn is_stuck(&self) -> bool {
        let mut step = self.step();
        loop {
            match *step {
                WatchedStep::Over => return false,
                WatchedStep::Unbounded => {
                    step = self.changed.wait(step).unwrap_or_else(PoisonError::into_inner);
                }
                WatchedStep::Bounded(bound) => {
                    let waited = self.changed.wait_timeout(step, bound);
                    let (next, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
                    if timeout.timed_out() && matches!(*next, WatchedStep::Bounded(_)) {
                        return true;
                    }
                    step = next;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{RecvTimeoutError, channel};

    use super::*;

    const MOMENT: Duration = Duration::from_millis(20);
    const MINUTE: Duration = Duration::from_mins(1);

    #[test]
    fn only_a_step_that_takes_too_long_ends_the_process() {
        let (told, heard) = channel();
        let guard = StuckGuard::new(move || told.send(()).unwrap()).unwrap();
        guard.within(MINUTE);
        guard.pause();
        assert_eq!(heard.recv_timeout(MOMENT * 5), Err(RecvTimeoutError::Timeout));
        guard.within(MOMENT);
        assert_eq!(heard.recv_timeout(MINUTE), Ok(()));
    }

    #[test]
    fn whoever_is_through_in_time_is_left_alone() {
        let (told, heard) = channel::<()>();
        let guard = StuckGuard::new(move || told.send(()).unwrap()).unwrap();
        guard.within(MINUTE);
        drop(guard);
        assert_eq!(heard.recv_timeout(MINUTE), Err(RecvTimeoutError::Disconnected), "its thread is gone");
    }
}
