//! OpenAI Chat Completions, which many services imitate.

use serde_json::{Value, json};

use super::{Draft, USAGE, plain, responses, speech};
use crate::model::http::Frame;
use crate::model::script::{Block, Why};
use crate::model::talk::{Talk, Tool, Turn, list, string, text_of};

pub(super) fn read(body: &Value) -> Talk {
    let tool = |tool: &Value| {
        let function = &tool["function"];
        Tool { name: string(function, "name"), schema: function["parameters"].clone(), ..Tool::default() }
    };
    let mut talk = Talk {
        model: string(body, "model"),
        tools: list(body, "tools").iter().map(tool).collect(),
        schema: body["response_format"]["json_schema"].get("schema").cloned(),
        stream: body["stream"].as_bool().unwrap_or(false),
        ..Talk::default()
    };
    for message in list(body, "messages") {
        let text = text_of(&message["content"]);
        match message["role"].as_str().unwrap_or_default() {
            "assistant" => {
                let calls = list(message, "tool_calls").iter();
                talk.push_model(&text, calls.map(|call| string(&call["function"], "name")).collect());
            }
            "tool" => talk.turns.push(Turn::Tool(text)),
            "user" => talk.turns.push(Turn::User(text)),
            _ => talk.push_system(&text),
        }
    }
    talk
}

pub(super) fn stream(draft: &Draft<'_>) -> Vec<Frame> {
    let mut frames = vec![start(draft)];
    for (index, block) in draft.blocks.iter().enumerate() {
        match block {
            Block::Text(pieces) => frames.extend(
                pieces.iter().map(|piece| speech(chunk(draft, &json!({"content": piece}), &Value::Null))),
            ),
            Block::Call(_) => {
                let mut call = call(block, index, draft.serial);
                call["index"] = 0.into();
                frames.push(chunk(draft, &json!({"tool_calls": [call]}), &Value::Null));
            }
        }
    }
    frames.push(chunk(draft, &json!({}), &finish_reason(draft).into()));
    let mut last = base(draft, "chat.completion.chunk");
    last["choices"] = json!([]);
    last["usage"] = usage();
    frames.push(plain(&last));
    frames.push(Frame { name: None, data: "[DONE]".to_owned(), speech: false });
    frames
}

pub(super) fn whole(draft: &Draft<'_>) -> Value {
    let text: String = draft.blocks.iter().map(said).collect();
    let mut message = json!({"role": "assistant", "content": text});
    let blocks = draft.blocks.iter().enumerate().filter(|(_, block)| matches!(block, Block::Call(_)));
    let calls: Vec<_> = blocks.map(|(index, block)| call(block, index, draft.serial)).collect();
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let mut completion = base(draft, "chat.completion");
    completion["choices"] = json!([{"index": 0, "message": message, "finish_reason": finish_reason(draft)}]);
    completion["usage"] = usage();
    completion
}

fn start(draft: &Draft<'_>) -> Frame {
    chunk(draft, &json!({"role": "assistant", "content": ""}), &Value::Null)
}

fn chunk(draft: &Draft<'_>, delta: &Value, finish: &Value) -> Frame {
    let mut chunk = base(draft, "chat.completion.chunk");
    chunk["choices"] = json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
    plain(&chunk)
}

fn base(draft: &Draft<'_>, object: &str) -> Value {
    json!({"id": format!("chatcmpl-{}", draft.serial), "object": object, "created": 1, "model": draft.model})
}

fn said(block: &Block) -> String {
    match block {
        Block::Text(pieces) => pieces.concat(),
        Block::Call(_) => String::new(),
    }
}

fn call(block: &Block, index: usize, serial: u64) -> Value {
    let (name, arguments) = match block {
        Block::Call(call) => (call.name.as_str(), call.arguments().to_string()),
        Block::Text(_) => ("", String::new()),
    };
    let function = json!({"name": name, "arguments": arguments});
    json!({"id": format!("call_{serial}_{index}"), "type": "function", "function": function})
}

fn finish_reason(draft: &Draft<'_>) -> &'static str {
    let calls = draft.blocks.iter().any(|block| matches!(block, Block::Call(_)));
    if calls { "tool_calls" } else { "stop" }
}

fn usage() -> Value {
    json!({
        "prompt_tokens": USAGE.input, "completion_tokens": USAGE.output,
        "total_tokens": USAGE.input + USAGE.output,
        "prompt_tokens_details": {"cached_tokens": USAGE.cache_read},
        "completion_tokens_details": {"reasoning_tokens": USAGE.reasoning},
    })
}

pub(super) fn broken_stream(draft: &Draft<'_>, why: Why) -> Vec<Frame> {
    vec![start(draft), plain(&responses::error(500, why))]
}
