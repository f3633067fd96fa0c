//! The protocols as the agents write them.

use serde_json::json;

use super::*;
use crate::model::call::{Call, Input};
use crate::model::talk::Turn;

const ALL: [Protocol; 4] = [Protocol::Messages, Protocol::Responses, Protocol::Gemini, Protocol::Chat];

/// The same conversation in every protocol: a prompt, a call with words, its result.
fn conversation(protocol: Protocol) -> (&'static str, Value) {
    match protocol {
        Protocol::Messages => (
            "/v1/messages",
            json!({
                "model": "m", "stream": true, "system": [{"type": "text", "text": "be"}, {"type": "text", "text": "good"}],
                "tools": [{"name": "Write", "input_schema": {"type": "object"}}],
                "messages": [
                    {"role": "user", "content": "do it"},
                    {"role": "assistant", "content": [{"type": "text", "text": "yes"}, {"type": "tool_use", "name": "Write"}]},
                    {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "done"}]}]},
                ],
            }),
        ),
        Protocol::Responses => (
            "/v1/responses",
            json!({
                "model": "m", "stream": true, "instructions": "be",
                "tools": [{"type": "function", "name": "Write", "parameters": {"type": "object"}}],
                "input": [
                    {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "good"}]},
                    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "do it"}]},
                    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "yes"}]},
                    {"type": "reasoning", "summary": []},
                    {"type": "function_call", "name": "Write", "arguments": "{}"},
                    {"type": "function_call_output", "output": "done"},
                ],
            }),
        ),
        Protocol::Gemini => (
            "/v1beta/models/m:streamGenerateContent",
            json!({
                "systemInstruction": {"parts": [{"text": "be"}, {"text": "good"}]},
                "tools": [{"functionDeclarations": [{"name": "Write", "parametersJsonSchema": {"type": "object"}}]}],
                "contents": [
                    {"role": "user", "parts": [{"text": "do it"}]},
                    {"role": "model", "parts": [{"text": "yes"}, {"functionCall": {"name": "Write"}}]},
                    {"role": "user", "parts": [{"functionResponse": {"response": "done"}}]},
                ],
            }),
        ),
        Protocol::Chat => (
            "/v1/chat/completions",
            json!({
                "model": "m", "stream": true,
                "tools": [{"type": "function", "function": {"name": "Write", "parameters": {"type": "object"}}}],
                "messages": [
                    {"role": "system", "content": "be"}, {"role": "system", "content": "good"},
                    {"role": "user", "content": [{"type": "text", "text": "do it"}]},
                    {"role": "assistant", "content": "yes", "tool_calls": [{"function": {"name": "Write"}}]},
                    {"role": "tool", "content": "done"},
                ],
            }),
        ),
    }
}

#[test]
fn all_protocols_tell_the_same() {
    for protocol in ALL {
        let (path, body) = conversation(protocol);
        assert_eq!(Protocol::of(path), Some(protocol));
        let talk = protocol.read(path, &body);
        let result = talk.turns.last().cloned();
        assert!(matches!(result, Some(Turn::Tool(text)) if text.contains("done")), "{protocol:?}");
        assert_eq!(
            talk.turns[..2],
            [Turn::User("do it".into()), Turn::Model { text: "yes".into(), calls: vec!["Write".into()] }]
        );
        assert_eq!((talk.model.as_str(), talk.system.as_str()), ("m", "be\ngood"), "{protocol:?}");
        assert_eq!((talk.tools.len(), talk.stream, talk.turns.len()), (1, true, 3), "{protocol:?}");
        assert_eq!(talk.tool("Write").unwrap().schema, json!({"type": "object"}), "{protocol:?}");
    }
}

#[test]
fn other_paths_are_no_question() {
    for path in ["/v1/messages/count_tokens", "/v1/models", "/v1beta/models/m:countTokens", "/"] {
        assert_eq!(Protocol::of(path), None, "{path}");
    }
}

#[test]
fn garbage_is_an_empty_conversation() {
    for protocol in ALL {
        for body in
            [json!(null), json!([1]), json!({"messages": 1, "input": {}, "contents": [null], "tools": [[]]})]
        {
            let talk = protocol.read("/x", &body);
            assert!(!talk.after_tool() && talk.answer_number() == 1, "{protocol:?} {talk:?}");
        }
    }
}

#[test]
fn codex_tells_its_own_models_their_tools_later() {
    let custom = json!({"type": "custom", "name": "exec"});
    let group = json!({"type": "namespace", "name": "functions", "tools": [custom]});
    let body = json!({"input": [{"type": "additional_tools", "tools": [group]}, {"type": "custom_tool_call_output"}]});
    let talk = Protocol::Responses.read("/responses", &body);
    let tool = talk.tool("exec").unwrap();
    assert!(tool.free_text && tool.namespace == "functions");
    assert!(talk.after_tool());
}

fn blocks() -> Vec<Block> {
    let input = Input::Arguments(json!({"path": "a"}));
    let call = Call { name: "Write".to_owned(), namespace: String::new(), input };
    vec![Block::Text(vec!["one ".to_owned(), "two".to_owned()]), Block::Call(call)]
}

#[test]
fn streams_carry_words_calls_and_usage() {
    let blocks = blocks();
    let draft = Draft { model: "m", blocks: &blocks, serial: 7 };
    for protocol in ALL {
        let frames = protocol.stream(&draft);
        let said: Vec<_> = frames.iter().filter(|frame| frame.speech).collect();
        assert_eq!(said.len(), 2, "{protocol:?}");
        assert!(said[0].data.contains("one ") && said[1].data.contains("two"), "{protocol:?}");
        let (all, whole) = (
            frames.iter().map(|frame| frame.data.as_str()).collect::<String>(),
            protocol.whole(&draft).to_string(),
        );
        for text in [all, whole] {
            for part in ["Write", "path", "222", "1111", "333"] {
                assert!(text.contains(part), "{protocol:?} says {part}: {text}");
            }
        }
        let json = frames.iter().filter(|frame| frame.data != "[DONE]");
        assert!(
            json.into_iter().all(|frame| serde_json::from_str::<Value>(&frame.data).is_ok()),
            "{protocol:?}"
        );
    }
}

fn refused(protocol: Protocol, scenario: (u16, Why, Wait)) -> Refused {
    let (code, why, wait) = scenario;
    protocol.refuse(Refusal { code, why, wait }, Timestamp::from_second(1_700_000_000).unwrap())
}

#[test]
fn errors_are_in_the_vendors_words() {
    for (protocol, code, why, words) in [
        (Protocol::Messages, 401, Why::Code, "authentication_error"),
        (Protocol::Messages, 429, Why::Code, "rate_limit_error"),
        (Protocol::Messages, 529, Why::Code, "overloaded_error"),
        (Protocol::Messages, 400, Why::Overflow, "prompt is too long"),
        (Protocol::Responses, 401, Why::Code, "invalid_api_key"),
        (Protocol::Responses, 429, Why::Quota, "usage_limit_reached"),
        (Protocol::Responses, 400, Why::Overflow, "context_length_exceeded"),
        (Protocol::Chat, 404, Why::Code, "model_not_found"),
        (Protocol::Gemini, 401, Why::Code, "API_KEY_INVALID"),
        (Protocol::Gemini, 429, Why::Quota, "PerDay"),
        (Protocol::Gemini, 429, Why::Code, "PerMinute"),
        (Protocol::Gemini, 400, Why::Overflow, "exceeds the maximum number of tokens"),
    ] {
        let body = refused(protocol, (code, why, Wait::Usual)).body.to_string();
        assert!(body.contains(words), "{protocol:?} {code}: {body}");
    }
    assert_eq!(refused(Protocol::Gemini, (401, Why::Code, Wait::Usual)).code, 400);
}

#[test]
fn errors_say_when_to_come_back() {
    let header = |code, why, wait| {
        let headers = refused(Protocol::Messages, (code, why, wait)).headers;
        headers.into_iter().rfind(|(name, _)| name.starts_with("retry-after"))
    };
    let after = |text: &str| Some(("retry-after", text.to_owned()));
    assert_eq!(header(429, Why::Code, Wait::Usual), after("1"));
    assert_eq!(header(500, Why::Code, Wait::Usual), None);
    assert_eq!(header(429, Why::Code, Wait::Unsaid), None);
    assert_eq!(header(429, Why::Code, Wait::Seconds(30)), after("30"));
    assert_eq!(header(429, Why::Code, Wait::Date(60)), after("Tue, 14 Nov 2023 22:14:20 GMT"));
    assert_eq!(header(429, Why::Code, Wait::Millis(250)), Some(("retry-after-ms", "250".to_owned())));
    assert_eq!(header(429, Why::Quota, Wait::Usual), after("10800"));
    let delay = refused(Protocol::Gemini, (429, Why::Code, Wait::Millis(1250))).body.to_string();
    assert!(delay.contains("\"1.250s\""), "{delay}");
}

#[test]
fn a_stream_that_breaks_says_why() {
    let draft = Draft { model: "m", blocks: &[], serial: 7 };
    for protocol in ALL {
        let last = |why| protocol.broken_stream(&draft, why).pop().unwrap().data;
        let (broken, long) = (last(Why::Code), last(Why::Overflow));
        assert!(broken.contains("error") && broken != long, "{protocol:?}: {broken}");
    }
}
