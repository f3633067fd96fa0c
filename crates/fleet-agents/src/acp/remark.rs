//! Remarks that Copilot makes among the words of the model: it reports failed requests in no other way, and ends such a
//! turn as if it had succeeded.

use fleet_core::run::Reason;

use crate::adapter::AgentFailure;
use crate::common::{refusal, words};

/// What a remark is about.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Remark {
    Retry(String),
    Error(AgentFailure),
}

/// Nothing if these are words of the model. A remark comes as one piece.
pub(super) fn read(piece: &str) -> Option<Remark> {
    if let Some(text) = piece.strip_prefix("Info: ") {
        return text.contains("etrying").then(|| Remark::Retry(words::trouble(text)));
    }
    let text = piece.strip_prefix("Error: ")?;
    let status = refusal::status_after(text, &["HTTP ", "Last error: "]);
    let reason = refusal::reason(status, text, &[]).unwrap_or(Reason::AgentError);
    Some(Remark::Error(AgentFailure::new(reason, words::trouble(text))))
}
