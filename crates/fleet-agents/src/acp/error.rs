//! What it means when the agent answers with an error.

use agent_client_protocol_schema::v1::{Error, ErrorCode};
use fleet_core::run::Reason;
use serde_json::Value;

use crate::adapter::Failure;
use crate::common::refusal;
use crate::common::tool::one_line;

/// What an error means. Some agents use the status of HTTP as its code, and pass the provider's answer on as text.
pub(super) fn failure(error: &Error) -> Failure {
    let body: Option<Value> = serde_json::from_str(&error.message).ok();
    let said = body.as_ref().and_then(|body| body.pointer("/error/message")).and_then(Value::as_str);
    let data = error.data.as_ref().map(ToString::to_string).unwrap_or_default();
    let all = format!("{} {data}", error.message);
    let code = i32::from(error.code);
    let reason = match error.code {
        ErrorCode::AuthRequired => Reason::Auth,
        _ => match u64::try_from(code) {
            Ok(status @ 400..=599) if refusal::by_words(&all).is_none() => refusal::by_status(status, &all),
            _ => refusal::by_words(&all).unwrap_or(Reason::AgentError),
        },
    };
    let until = body.as_ref().and_then(refusal::until_in_body);
    let message = said.unwrap_or(&error.message);
    let message = message.strip_prefix("Internal error: ").unwrap_or(message);
    Failure { until, ..Failure::new(reason, one_line(message)) }
}
