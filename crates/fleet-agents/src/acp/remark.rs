//! Remarks that Copilot makes among the words of the model: it tells of failed requests in no other way, and ends such a
//! turn as if all were well.

use fleet_core::run::Reason;

use crate::adapter::Failure;
use crate::common::refusal;
use crate::common::tool::one_line;

/// What a remark is about.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Remark {
    /// It tries again.
    Retry(String),
    /// It gave up.
    Error(Failure),
}

/// Nothing if these are words of the model. A remark comes as one piece.
pub(super) fn read(piece: &str) -> Option<Remark> {
    if let Some(text) = piece.strip_prefix("Info: ") {
        return text.contains("etrying").then(|| Remark::Retry(one_line(text)));
    }
    let text = piece.strip_prefix("Error: ")?;
    let reason = match status(text) {
        Some(status) => refusal::by_status(status, text),
        None => refusal::by_words(text).unwrap_or(Reason::AgentError),
    };
    Some(Remark::Error(Failure::new(reason, one_line(text))))
}

/// The status of HTTP that it names.
fn status(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once("HTTP ").or_else(|| text.split_once("Last error: "))?;
    rest.get(..3)?.parse().ok()
}
