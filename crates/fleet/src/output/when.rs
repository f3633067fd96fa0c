//! Spans of time as people say them.

use std::time::Duration;

use fleet_core::time::{Millis, Span};

/// How long ago something was: `5m`, `3d4h`.
pub(crate) fn ago(at: Millis, now: Millis) -> String {
    Span(Duration::from_secs(now.since(at).as_secs())).to_string()
}

/// How long something is still away: `in 2h`.
pub(crate) fn until(at: Millis, now: Millis) -> String {
    let left = at.since(now) + Duration::from_millis(999);
    format!("in {}", Span(Duration::from_secs(left.as_secs())))
}
