//! What is said to Claude Code on its standard input, one line of JSON each.

use serde_json::{Value, json};

use crate::adapter::Trust;
use crate::common::json::text;

pub(super) fn prompt(words: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": words}]}})
}

/// A request to end the turn now.
pub(super) fn interrupt(number: u32) -> Value {
    let id = format!("fleet-{number}");
    json!({"type": "control_request", "request_id": id, "request": {"subtype": "interrupt"}})
}

/// The answer to something that Claude Code asks its host. It waits for one, for ever if need be.
pub(super) fn answer(asked: &Value, trust: Trust) -> Value {
    let id = asked.get("request_id").cloned().unwrap_or_default();
    let request = &asked["request"];
    let response = match text(request, "subtype") {
        Some("can_use_tool") if trust == Trust::Full => {
            let input = request.get("input").cloned().unwrap_or_else(|| json!({}));
            granted(&id, &json!({"behavior": "allow", "updatedInput": input}))
        }
        Some("can_use_tool") => granted(&id, &json!({"behavior": "deny", "message": REFUSAL})),
        _ => json!({"subtype": "error", "request_id": id, "error": "this host does not do that"}),
    };
    json!({"type": "control_response", "response": response})
}

/// What the agent reads when it wanted to do more than it may.
pub(super) const REFUSAL: &str =
    "Not allowed here, and no one can be asked: continue without it, and say so in your report.";

fn granted(id: &Value, response: &Value) -> Value {
    json!({"subtype": "success", "request_id": id, "response": response})
}
