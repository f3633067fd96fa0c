//! Spans of time as people say them.

use fleet_core::time::{Millis, Span};

/// How long ago something was: `5m`, `3d4h`.
pub(crate) fn ago(at: Millis, now: Millis) -> String {
    Span(now.since(at)).to_string()
}

/// How long something is still away: `in 2h`.
pub(crate) fn until(at: Millis, now: Millis) -> String {
    format!("in {}", Span(at.since(now)))
}
