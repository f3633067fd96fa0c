//! OpenAI Responses. Its errors are also those of Chat Completions.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Draft, Headers, QUOTA_SECONDS, Refused, USAGE, reset, speech, typed};
use crate::model::call::{Call, Input};
use crate::model::http::Frame;
use crate::model::script::{Block, Refusal, Why};
use crate::model::talk::{Talk, Tool, Turn, list, string, text_of};

pub(super) fn read(body: &Value) -> Talk {
    let format = &body["text"]["format"];
    let mut talk = Talk {
        model: string(body, "model"),
        system: string(body, "instructions"),
        tools: tools(list(body, "tools")),
        schema: format.get("schema").cloned(),
        stream: body["stream"].as_bool().unwrap_or(false),
        ..Talk::default()
    };
    if let Some(prompt) = body["input"].as_str() {
        talk.turns.push(Turn::User(prompt.to_owned()));
    }
    for item in list(body, "input") {
        read_item(item, &mut talk);
    }
    talk
}

fn read_item(item: &Value, talk: &mut Talk) {
    let kind = item["type"].as_str().unwrap_or("message");
    let text = || text_of(&item["content"]);
    match (kind, item["role"].as_str().unwrap_or_default()) {
        ("message", "assistant") => talk.push_model(&text(), Vec::new()),
        ("message", "user") => talk.turns.push(Turn::User(text())),
        ("message", _) => talk.push_system(&text()),
        // Codex's own models are told their tools in the course of the conversation.
        ("additional_tools", _) => talk.tools.extend(tools(list(item, "tools"))),
        (kind, _) if kind.ends_with("_call") => talk.push_model("", vec![string(item, "name")]),
        (kind, _) if kind.ends_with("_output") => talk.turns.push(Turn::Tool(text_of(&item["output"]))),
        _ => {}
    }
}

fn tools(offered: &[Value]) -> Vec<Tool> {
    offered.iter().flat_map(|tool| in_namespace(tool, "")).collect()
}

fn in_namespace(tool: &Value, namespace: &str) -> Vec<Tool> {
    if tool["type"] == "namespace" {
        let name = string(tool, "name");
        return list(tool, "tools").iter().flat_map(|tool| in_namespace(tool, &name)).collect();
    }
    let name = tool["name"].as_str().or_else(|| tool["type"].as_str()).unwrap_or_default();
    vec![Tool {
        name: name.to_owned(),
        namespace: namespace.to_owned(),
        schema: tool["parameters"].clone(),
        free_text: tool["type"] == "custom",
    }]
}

pub(super) fn stream(draft: &Draft<'_>) -> Vec<Frame> {
    let mut frames = vec![created(draft)];
    for (index, block) in draft.blocks.iter().enumerate() {
        let done = item(block, index, draft.serial);
        let mut added = done.clone();
        if let Block::Text(_) = block {
            added["content"] = json!([]);
            added["status"] = "in_progress".into();
        }
        frames.push(typed(
            &json!({"type": "response.output_item.added", "output_index": index, "item": added}),
        ));
        if let Block::Text(pieces) = block {
            frames.extend(pieces.iter().map(|piece| {
                speech(typed(&json!({"type": "response.output_text.delta", "item_id": done["id"],
                                     "output_index": index, "content_index": 0, "delta": piece})))
            }));
        }
        frames
            .push(typed(&json!({"type": "response.output_item.done", "output_index": index, "item": done})));
    }
    frames.push(typed(&json!({"type": "response.completed", "response": whole(draft)})));
    number(&mut frames);
    frames
}

pub(super) fn whole(draft: &Draft<'_>) -> Value {
    let blocks = draft.blocks.iter().enumerate();
    let mut response = response(draft, "completed");
    response["output"] = blocks.map(|(index, block)| item(block, index, draft.serial)).collect();
    response["usage"] = json!({
        "input_tokens": USAGE.input,
        "input_tokens_details": {"cached_tokens": USAGE.cache_read, "cache_write_tokens": USAGE.cache_write},
        "output_tokens": USAGE.output, "output_tokens_details": {"reasoning_tokens": USAGE.reasoning},
        "total_tokens": USAGE.input + USAGE.output,
    });
    response
}

fn created(draft: &Draft<'_>) -> Frame {
    typed(&json!({"type": "response.created", "response": response(draft, "in_progress")}))
}

fn response(draft: &Draft<'_>, status: &str) -> Value {
    json!({"id": format!("resp_{}", draft.serial), "object": "response", "created_at": 1, "status": status,
           "model": draft.model, "output": []})
}

fn item(block: &Block, index: usize, serial: u64) -> Value {
    let id = format!("item_{serial}_{index}");
    match block {
        Block::Text(pieces) => {
            let content = json!({"type": "output_text", "text": pieces.concat(), "annotations": []});
            json!({"type": "message", "id": id, "role": "assistant", "status": "completed", "content": [content]})
        }
        Block::Call(call) => call_item(call, &id),
    }
}

fn call_item(call: &Call, id: &str) -> Value {
    let mut item = match &call.input {
        Input::Arguments(arguments) => json!({"type": "function_call", "arguments": arguments.to_string()}),
        Input::FreeText(text) => json!({"type": "custom_tool_call", "input": text}),
    };
    item["id"] = id.into();
    item["call_id"] = format!("call_{id}").into();
    item["name"] = call.name.as_str().into();
    if !call.namespace.is_empty() {
        item["namespace"] = call.namespace.as_str().into();
    }
    item
}

/// Every event has its number.
fn number(frames: &mut [Frame]) {
    for (at, frame) in frames.iter_mut().enumerate() {
        if let Some(rest) = frame.data.strip_prefix('{') {
            frame.data = format!("{{\"sequence_number\":{at},{rest}");
        }
    }
}

pub(super) fn broken_stream(draft: &Draft<'_>, why: Why) -> Vec<Frame> {
    let mut response = response(draft, "failed");
    response["error"] = match why {
        Why::Overflow => json!({"code": OVERFLOW.1, "message": OVERFLOW.2}),
        Why::Code | Why::Quota => {
            json!({"code": "server_error", "message": "The server had an error while processing your request."})
        }
    };
    let mut frames = vec![created(draft), typed(&json!({"type": "response.failed", "response": response}))];
    number(&mut frames);
    frames
}

pub(super) fn refuse(refusal: Refusal, now: Timestamp) -> Refused {
    let body = if refusal.why == Why::Quota { used_up(now) } else { error(refusal.code, refusal.why) };
    Refused { code: refusal.code, headers: Vec::new(), body }
}

type Words = (&'static str, Option<&'static str>, &'static str);

const OVERFLOW: Words = (
    "invalid_request_error",
    Some("context_length_exceeded"),
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
);

/// What these services say for a code.
pub(super) fn error(code: u16, why: Why) -> Value {
    let (kind, code, message) = match (code, why) {
        (_, Why::Overflow) => OVERFLOW,
        (401, _) => ("invalid_request_error", Some("invalid_api_key"), "Incorrect API key provided: dummy."),
        (403, _) => ("invalid_request_error", None, "You do not have access to this resource"),
        (404, _) => {
            ("invalid_request_error", Some("model_not_found"), "The model `no-such-model` does not exist")
        }
        (429, _) => ("requests", Some("rate_limit_exceeded"), "Rate limit reached for requests"),
        (503 | 529, _) => ("server_error", None, "The service is overloaded"),
        (400..500, _) => ("invalid_request_error", None, "The request is not valid"),
        _ => ("server_error", None, "The server had an error while processing your request"),
    };
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}

fn used_up(now: Timestamp) -> Value {
    json!({"error": {"type": "usage_limit_reached", "code": "usage_limit_reached", "plan_type": "pro",
                     "message": "The usage limit has been reached", "resets_at": reset(now),
                     "resets_in_seconds": QUOTA_SECONDS}})
}

pub(super) fn warning(now: Timestamp) -> Headers {
    vec![
        ("x-codex-primary-used-percent", "93.0".to_owned()),
        ("x-codex-primary-window-minutes", "300".to_owned()),
        ("x-codex-primary-reset-at", reset(now).to_string()),
    ]
}
