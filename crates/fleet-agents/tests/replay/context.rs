//! How long the main conversation is, as each agent tells.

use std::path::Path;

use fleet_agents::{Brief, ContextReading, Decoder, Registry, Stream};
use serde_json::{Value, json};

fn decoder(agent: &str) -> Box<dyn Decoder> {
    let registry = Registry::default();
    registry.find(agent).unwrap().decoder(&Brief::plain("Do it", Path::new("/run/tree")))
}

/// What is known after each of these lines of its output.
fn after(agent: &str, lines: &[Value]) -> Vec<Option<u64>> {
    let mut decoder = decoder(agent);
    let mut tell = |line: &Value| {
        decoder.line(Stream::Out, line.to_string().as_bytes(), false);
        decoder.context().map(|context| context.tokens)
    };
    lines.iter().map(&mut tell).collect()
}

#[test]
fn claude_tells_it_with_every_message_and_subagents_do_not_count() {
    let message = |id: &str, parent: Value, read: u64| {
        let usage = json!({"input_tokens": 10, "cache_read_input_tokens": read, "cache_creation_input_tokens": 5,
            "output_tokens": 900});
        let content = json!([{"type": "text", "text": "x"}]);
        json!({"type": "assistant", "parent_tool_use_id": parent, "session_id": "s",
            "message": {"id": id, "usage": usage, "content": content}})
    };
    let lines = [
        json!({"type": "system", "subtype": "init", "session_id": "s", "model": "claude-opus-5-5"}),
        message("m1", Value::Null, 100),
        message("m2", json!("toolu_1"), 90_000),
        message("m3", Value::Null, 180_000),
        // It was compacted.
        json!({"type": "system", "subtype": "compact_boundary", "session_id": "s"}),
        message("m4", Value::Null, 20_000),
    ];
    let expected = [None, Some(115), Some(115), Some(180_015), Some(180_015), Some(20_015)];
    assert_eq!(after("claude", &lines), expected);
}

#[test]
fn codex_and_gemini_write_it_down() {
    let mut codex = decoder("codex");
    let last = json!({"input_tokens": 5_000, "cached_input_tokens": 4_000, "output_tokens": 9});
    let info = json!({"total_token_usage": {"input_tokens": 90_000}, "last_token_usage": last,
        "model_context_window": 272_000});
    let line = json!({"type": "event_msg", "payload": {"type": "token_count", "info": info}});
    codex.record(line.to_string().as_bytes());
    let expected = ContextReading { tokens: 5_000, limit: Some(272_000) };
    assert_eq!(codex.context(), Some(expected), "the last request, and not the sum");
    let mut gemini = decoder("gemini");
    for (id, input) in [("1", 700), ("2", 900), ("2", 5)] {
        let tokens = json!({"input": input, "cached": 100, "output": 50});
        let line = json!({"type": "gemini", "id": id, "model": "gemini-2.5-pro", "tokens": tokens});
        gemini.record(line.to_string().as_bytes());
    }
    assert_eq!(gemini.context(), Some(ContextReading { tokens: 900, limit: None }));
}

#[test]
fn opencode_tells_it_with_every_step() {
    let step = |input: u64, read: u64| {
        let tokens =
            json!({"input": input, "output": 7, "reasoning": 0, "cache": {"read": read, "write": 3}});
        let part = json!({"type": "step-finish", "reason": "tool-calls", "tokens": tokens});
        json!({"type": "step_finish", "sessionID": "ses_1", "part": part})
    };
    assert_eq!(after("opencode", &[step(10, 100), step(20, 500)]), [Some(113), Some(523)]);
}
