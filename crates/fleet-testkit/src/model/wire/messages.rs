//! Anthropic Messages.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Draft, Headers, QUOTA_SECONDS, Refused, USAGE, reset, speech, typed};
use crate::model::http::Frame;
use crate::model::script::{Block, Refusal, Why};
use crate::model::talk::{Talk, Tool, Turn, list, string, text_of};

pub(super) fn read(body: &Value) -> Talk {
    let tool = |tool: &Value| Tool {
        name: string(tool, "name"),
        schema: tool["input_schema"].clone(),
        ..Tool::default()
    };
    let mut talk = Talk {
        model: string(body, "model"),
        system: text_of(&body["system"]),
        tools: list(body, "tools").iter().map(tool).collect(),
        stream: body["stream"].as_bool().unwrap_or(false),
        ..Talk::default()
    };
    for message in list(body, "messages") {
        let content = &message["content"];
        let of_kind =
            |kind: &'static str| list(message, "content").iter().filter(move |block| block["type"] == kind);
        let text = text_of(content);
        if message["role"] == "assistant" {
            talk.push_model(&text, of_kind("tool_use").map(|block| string(block, "name")).collect());
            continue;
        }
        if !text.trim().is_empty() {
            talk.turns.push(Turn::User(text));
        }
        talk.turns.extend(of_kind("tool_result").map(|block| Turn::Tool(text_of(&block["content"]))));
    }
    talk
}

pub(super) fn stream(draft: &Draft<'_>) -> Vec<Frame> {
    let mut frames = vec![start(draft)];
    for (index, block) in draft.blocks.iter().enumerate() {
        let delta =
            |delta: &Value| typed(&json!({"type": "content_block_delta", "index": index, "delta": delta}));
        let start = match block {
            Block::Text(_) => json!({"type": "text", "text": ""}),
            Block::Call(_) => content(block, index, draft.serial, &json!({})),
        };
        frames.push(typed(&json!({"type": "content_block_start", "index": index, "content_block": start})));
        match block {
            Block::Text(pieces) => frames.extend(
                pieces.iter().map(|piece| speech(delta(&json!({"type": "text_delta", "text": piece})))),
            ),
            Block::Call(call) => frames.push(delta(
                &json!({"type": "input_json_delta", "partial_json": call.arguments().to_string()}),
            )),
        }
        frames.push(typed(&json!({"type": "content_block_stop", "index": index})));
    }
    let delta = json!({"stop_reason": stop_reason(draft), "stop_sequence": null});
    let usage = json!({"output_tokens": USAGE.output});
    frames.push(typed(&json!({"type": "message_delta", "delta": delta, "usage": usage})));
    frames.push(typed(&json!({"type": "message_stop"})));
    frames
}

pub(super) fn whole(draft: &Draft<'_>) -> Value {
    let blocks = draft.blocks.iter().enumerate().map(|(index, block)| match block {
        Block::Text(pieces) => json!({"type": "text", "text": pieces.concat()}),
        Block::Call(call) => content(block, index, draft.serial, &call.arguments()),
    });
    let mut message = message(draft, USAGE.output);
    message["content"] = blocks.collect();
    message["stop_reason"] = stop_reason(draft).into();
    message
}

fn start(draft: &Draft<'_>) -> Frame {
    // The real service counts what it has written so far, which is next to nothing.
    typed(&json!({"type": "message_start", "message": message(draft, 1)}))
}

fn message(draft: &Draft<'_>, output: u64) -> Value {
    json!({
        "id": format!("msg_{}", draft.serial), "type": "message", "role": "assistant", "model": draft.model,
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {
            "input_tokens": USAGE.input, "output_tokens": output,
            "cache_read_input_tokens": USAGE.cache_read, "cache_creation_input_tokens": USAGE.cache_write,
            "cache_creation": {"ephemeral_5m_input_tokens": USAGE.cache_write, "ephemeral_1h_input_tokens": 0},
            "service_tier": "standard",
        },
    })
}

fn content(block: &Block, index: usize, serial: u64, input: &Value) -> Value {
    let name = match block {
        Block::Call(call) => call.name.as_str(),
        Block::Text(_) => "",
    };
    json!({"type": "tool_use", "id": format!("toolu_{serial}_{index}"), "name": name, "input": input})
}

fn stop_reason(draft: &Draft<'_>) -> &'static str {
    let calls = draft.blocks.iter().any(|block| matches!(block, Block::Call(_)));
    if calls { "tool_use" } else { "end_turn" }
}

pub(super) fn broken_stream(draft: &Draft<'_>, why: Why) -> Vec<Frame> {
    let code = if why == Why::Overflow { 400 } else { 529 };
    vec![start(draft), typed(&error(code, why))]
}

pub(super) fn refuse(refusal: Refusal, now: Timestamp) -> Refused {
    let headers = if refusal.why == Why::Quota { used_up(now) } else { Vec::new() };
    Refused { code: refusal.code, headers, body: error(refusal.code, refusal.why) }
}

fn error(code: u16, why: Why) -> Value {
    let (kind, message) = match (code, why) {
        (_, Why::Overflow) => ("invalid_request_error", "prompt is too long: 213462 tokens > 200000 maximum"),
        (401, _) => ("authentication_error", "invalid x-api-key"),
        (403, _) => ("permission_error", "Your API key does not have permission to use this resource"),
        (404, _) => ("not_found_error", "model: no-such-model"),
        (413, _) => ("request_too_large", "Request exceeds the maximum size"),
        (429, _) => ("rate_limit_error", "This request would exceed your account's rate limit"),
        (529, _) => ("overloaded_error", "Overloaded"),
        (400..500, _) => ("invalid_request_error", "The request is not valid"),
        _ => ("api_error", "Internal server error"),
    };
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_scripted"})
}

/// The plan's window of five hours; agents that log in with a plan understand these.
fn window(status: &str, utilization: &str, reset: i64) -> Headers {
    vec![
        ("anthropic-ratelimit-unified-status", status.to_owned()),
        ("anthropic-ratelimit-unified-representative-claim", "five_hour".to_owned()),
        ("anthropic-ratelimit-unified-reset", reset.to_string()),
        ("anthropic-ratelimit-unified-5h-status", status.to_owned()),
        ("anthropic-ratelimit-unified-5h-utilization", utilization.to_owned()),
        ("anthropic-ratelimit-unified-5h-reset", reset.to_string()),
    ]
}

fn used_up(now: Timestamp) -> Headers {
    let mut headers = window("rejected", "1.0", reset(now));
    headers.push(("retry-after", QUOTA_SECONDS.to_string()));
    headers.push(("x-should-retry", "false".to_owned()));
    headers
}

pub(super) fn warning(now: Timestamp) -> Headers {
    let mut headers = window("allowed_warning", "0.93", reset(now));
    headers.push(("anthropic-ratelimit-unified-5h-surpassed-threshold", "0.9".to_owned()));
    headers
}
