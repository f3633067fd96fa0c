//! Spans of time on the command line: `90s`, `1h30m`.

use fleet_core::time::{Span, SpanError};

pub(crate) fn seconds(text: &str) -> Result<u64, SpanError> {
    text.parse().map(|span: Span| span.0.as_secs())
}

pub(crate) fn millis(text: &str) -> Result<u64, SpanError> {
    text.parse().map(|span: Span| u64::try_from(span.0.as_millis()).unwrap_or(u64::MAX))
}
