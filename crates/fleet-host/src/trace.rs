//! What a command does and how long each step takes, on standard error: `fleet --verbose`.
//!
//! Off unless switched on; until then a span costs one load of a flag. Only for the process of a person: keepers
//! and runners never switch it on.

#![expect(clippy::disallowed_methods, reason = "a span is a measured time, shown and never decided by")]

use std::cell::Cell;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

static ON: AtomicBool = AtomicBool::new(false);

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Spans are shown from now on.
pub fn switch_on() {
    ON.store(true, Ordering::Relaxed);
}

/// A step, which is shown with its time when this is dropped.
#[derive(Debug)]
#[must_use]
pub struct Span(Option<(Instant, String)>);

/// Begins a step; what it is called is only made up if somebody reads it.
pub fn span(name: impl FnOnce() -> String) -> Span {
    if !ON.load(Ordering::Relaxed) {
        return Span(None);
    }
    DEPTH.with(|depth| depth.set(depth.get() + 1));
    Span(Some((Instant::now(), name())))
}

impl Drop for Span {
    fn drop(&mut self) {
        let Some((begun, name)) = self.0.take() else { return };
        let depth = DEPTH.with(|depth| {
            depth.set(depth.get().saturating_sub(1));
            depth.get()
        });
        // Nothing better can be done when standard error is closed.
        let _ = writeln!(std::io::stderr(), "{}", line(depth, begun.elapsed().as_secs_f64(), &name));
    }
}

fn line(depth: usize, seconds: f64, name: &str) -> String {
    format!("{:>9.1} ms  {}{name}", seconds * 1_000.0, "  ".repeat(depth))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_time_and_shows_what_is_inside_what() {
        assert_eq!(line(0, 0.0123, "run.list"), "     12.3 ms  run.list");
        assert_eq!(line(1, 2.0, "git status"), "   2000.0 ms    git status");
    }

    #[test]
    fn nothing_is_made_up_while_it_is_off() {
        drop(span(|| unreachable!("nobody reads it")));
    }
}
