//! Whatever comes, it does not fall, and what it keeps stays small.

use fleet_core::outcome::AgentExit;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::adapter::Stream;

/// Feeds lines, and everything that can be asked of a decoder, in the order in which a keeper does.
pub(crate) fn survives(decoder: &mut dyn Decoder, lines: &[&[u8]]) -> Seen {
    let mut seen = Seen::default();
    for line in lines {
        seen.see_all(&decoder.line(Stream::Out, line, false));
        decoder.reply();
    }
    seen.see_all(&decoder.end(&AgentExit::Code(1)));
    seen.text = decoder.final_text().map(str::to_owned);
    seen.failure = decoder.failure();
    seen
}

#[test]
fn a_recording_may_end_anywhere() {
    for name in names("claude") {
        let recording = recording("claude", &name);
        for most in 0..recording.out.len() {
            let lines: Vec<&[u8]> = recording.out[..most].iter().map(Vec::as_slice).collect();
            let seen = survives(&mut *Claude.decoder(&brief()), &lines);
            let over =
                lines.last().is_some_and(|line| String::from_utf8_lossy(line).contains(r#""type":"result""#));
            assert!(over || seen.failure.is_some(), "{name}: cut after {most} lines it looks well");
        }
    }
}

#[test]
fn lines_may_come_twice_mixed_or_broken() {
    let others = recording("claude", "streamin-text").out;
    for name in names("claude") {
        let lines = recording("claude", &name).out;
        let twice: Vec<&[u8]> = lines.iter().flat_map(|line| [line.as_slice(), line.as_slice()]).collect();
        survives(&mut *Claude.decoder(&brief()), &twice);
        let mixed: Vec<&[u8]> =
            lines.iter().zip(others.iter().cycle()).flat_map(|(a, b)| [a.as_slice(), b.as_slice()]).collect();
        survives(&mut *Claude.decoder(&brief()), &mixed);
        let broken: Vec<&[u8]> =
            lines.iter().flat_map(|line| [&line[..line.len() / 2], &line[line.len() / 3..]]).collect();
        let seen = survives(&mut *Claude.decoder(&brief()), &broken);
        assert_eq!(seen.raw, broken.len(), "{name}: half a line is kept as it is");
    }
}

#[test]
fn what_is_kept_is_bounded() {
    let huge = "x".repeat(3 * 1024 * 1024);
    let mut decoder = Claude.decoder(&brief());
    let said = json!({"type": "assistant", "session_id": huge, "message": {"id": huge, "usage": {"input_tokens": 1},
        "content": [{"type": "text", "text": huge}, {"type": "tool_use", "id": huge, "name": huge, "input": {"command": huge}}]}});
    let failed = json!({"type": "result", "is_error": true, "result": huge});
    for line in [said, failed] {
        for event in decoder.line(Stream::Out, line.to_string().as_bytes(), false) {
            assert!(format!("{event:?}").len() < 600 * 1024);
        }
    }
    decoder.line(Stream::Err, huge.as_bytes(), false);
    assert!(decoder.failure().unwrap().text.len() <= 2 * 1024);
    assert!(decoder.final_text().is_none_or(|text| text.len() <= 256 * 1024));
}

/// Keys and words that mean something, in places where they do not belong.
fn json_like() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(WORDS);
    let leaf = prop_oneof![
        word.clone().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
        ".{0,12}".prop_map(Value::from),
    ];
    let key = word.prop_map(str::to_owned);
    leaf.prop_recursive(4, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key.clone(), inner, 0..6).prop_map(|map| json!(map)),
        ]
    })
}

const WORDS: &[&str] = &[
    "type",
    "subtype",
    "system",
    "assistant",
    "user",
    "result",
    "init",
    "api_retry",
    "permission_denied",
    "rate_limit_event",
    "rate_limit_info",
    "control_request",
    "request",
    "request_id",
    "can_use_tool",
    "message",
    "content",
    "usage",
    "input_tokens",
    "output_tokens",
    "modelUsage",
    "model_usage_since_last_result",
    "costUSD",
    "total_cost_usd",
    "is_error",
    "session_id",
    "text",
    "tool_use",
    "tool_result",
    "input",
    "id",
    "name",
    "permission_denials",
    "tool_use_id",
    "error",
    "error_status",
    "retry_delay_ms",
    "resetsAt",
    "status",
    "rejected",
    "isReplay",
    "errors",
    "mcp_servers",
    "failed",
    "thinking",
];

/// Lines of a shape that it looks at, with anything in them.
fn line_like() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(
        &["system", "assistant", "user", "result", "rate_limit_event", "control_request"][..],
    );
    let subtype =
        prop::sample::select(&["init", "api_retry", "permission_denied", "success", "hook_response"][..]);
    let parts =
        ["message", "usage", "rate_limit_info", "request", "modelUsage", "content", "permission_denials"];
    let more = prop::collection::vec((prop::sample::select(parts.to_vec()), json_like()), 0..5);
    (kind, subtype, more, any::<bool>()).prop_map(|(kind, subtype, more, is_error)| {
        let mut line = json!({"type": kind, "subtype": subtype, "is_error": is_error});
        for (key, value) in more {
            line[key] = value;
        }
        line
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_bytes_make_it_fall_or_are_lost(bytes in prop::collection::vec(any::<u8>(), 0..400), cut: bool) {
        let mut decoder = Claude.decoder(&brief());
        let events = decoder.line(Stream::Out, &bytes, cut);
        prop_assert!(!events.is_empty() || bytes.trim_ascii().is_empty());
        decoder.line(Stream::Err, &bytes, cut);
        decoder.end(&AgentExit::Code(1));
        prop_assert!(decoder.failure().is_some());
    }

    #[test]
    fn no_json_makes_it_fall(values in prop::collection::vec(prop_oneof![json_like(), line_like()], 0..12)) {
        let lines: Vec<Vec<u8>> = values.iter().map(|value| value.to_string().into_bytes()).collect();
        let lines: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
        let first = survives(&mut *Claude.decoder(&brief()), &lines);
        prop_assert_eq!(first, survives(&mut *Claude.decoder(&brief()), &lines));
    }
}
