//! What it means when the agent answers with an error.

use agent_client_protocol_schema::v1::{Error, ErrorCode};
use fleet_core::run::Reason;
use serde_json::Value;

use crate::adapter::AgentFailure;
use crate::common::json::{object, text};
use crate::common::{refusal, reset, words};

/// What an error means. Some agents use the status of HTTP as its code, and pass the provider's answer on as text;
/// others say something general, and what it is about beside.
pub(super) fn failure(error: &Error) -> AgentFailure {
    let body = object(error.message.as_bytes()).unwrap_or_default();
    let data = error.data.as_ref().unwrap_or(&Value::Null);
    let all = format!("{} {data}", error.message);
    let status = u64::try_from(i32::from(error.code)).ok();
    let reason = match error.code {
        ErrorCode::AuthRequired => Reason::Auth,
        _ => refusal::reason(status, &all, &[]).unwrap_or(Reason::AgentError),
    };
    let said = text(&body["error"], "message").or_else(|| text(data, "details")).unwrap_or(&error.message);
    let said = said.strip_prefix("Internal error: ").unwrap_or(said);
    AgentFailure { until: reset::in_body(&body), ..AgentFailure::new(reason, words::trouble(said)) }
}
