//! Streams that are cut off, mixed up or made to hurt: nothing falls, nothing is lost without a trace, and nothing
//! grows without end.

use fleet_agents::{AgentEvent, Meter, Stream};
use fleet_core::outcome::AgentExit;
use proptest::prelude::*;

use crate::replay::{Line, decoder, err, names, out, play};

const AGENTS: [&str; 2] = ["codex", "gemini"];

fn everything() -> impl Iterator<Item = (&'static str, Vec<Line>)> {
    AGENTS.into_iter().flat_map(|agent| {
        names(agent).into_iter().map(move |name| (agent, [out(agent, &name), err(agent, &name)].concat()))
    })
}

#[test]
fn cut_off_after_any_line_it_has_failed_until_it_said_its_end() {
    for (agent, lines) in everything() {
        for kept in 0..lines.len() {
            let run = play(decoder(agent, Meter::default()), &lines[..kept], &AgentExit::Signal(9));
            let ended = run.events.iter().any(|event| matches!(event, AgentEvent::Ended { .. }));
            assert_eq!(run.decoder.failure().is_none(), ended, "{agent}: {:?}", lines.first());
        }
    }
}

#[test]
fn the_same_lines_give_the_same_events() {
    for (agent, lines) in everything() {
        let [first, again] =
            [(), ()].map(|()| play(decoder(agent, Meter::default()), &lines, &AgentExit::Code(0)));
        assert_eq!(first.events, again.events);
        assert_eq!(first.decoder.failure(), again.decoder.failure());
        assert_eq!(first.decoder.final_text(), again.decoder.final_text());
    }
}

#[test]
fn lines_that_come_twice_mixed_up_or_broken_do_no_harm() {
    for (agent, lines) in everything() {
        let doubled = lines.iter().flat_map(|line| [line.clone(), line.clone()]).collect();
        let reversed = lines.iter().rev().cloned().collect();
        let halves = lines.iter().map(|(stream, line)| (*stream, line[..line.len() / 2].to_vec())).collect();
        let torn = |(at, (stream, line)): (usize, &Line)| {
            let mut line = line.clone();
            if let Some(byte) = line.get_mut(at * 7 % 97) {
                *byte = 0xff;
            }
            (*stream, line)
        };
        let torn = lines.iter().enumerate().map(torn).collect();
        let mixed = [doubled, reversed, halves, torn] as [Vec<Line>; 4];
        for lines in mixed {
            let run = play(decoder(agent, Meter::default()), &lines, &AgentExit::Code(1));
            assert!(run.events.len() <= 4 * lines.len() + 4, "{agent}");
        }
    }
}

/// Ids, names and texts without end, in every place where something is kept.
#[test]
fn what_is_kept_is_bounded() {
    let long = "漢".repeat(120_000);
    let templates = [
        r#"{"type":"thread.started","thread_id":"T"}"#,
        r#"{"type":"item.started","item":{"id":"T","type":"command_execution","command":"T"}}"#,
        r#"{"type":"item.completed","item":{"id":"T","type":"file_change","changes":[{"path":"T","kind":"T"}]}}"#,
        r#"{"type":"item.completed","item":{"id":"T","type":"mcp_tool_call","arguments":{"path":"T"},"error":{"message":"T requires approval"}}}"#,
        r#"{"type":"item.completed","item":{"id":"T","type":"agent_message","text":"T"}}"#,
        r#"{"type":"error","message":"Reconnecting... 1/5 (T)"}"#,
        r#"{"type":"error","message":"T"}"#,
        r#"{"type":"message","role":"assistant","content":"T","delta":true}"#,
        r#"{"type":"tool_use","tool_name":"T","tool_id":"T","parameters":{"command":"T"}}"#,
        r#"{"type":"tool_result","tool_id":"T","status":"error","output":"T"}"#,
        r#"{"type":"result","status":"error","error":{"message":"[API Error: T"}}"#,
        "Attempt 1 failed: T",
        "Error: T",
    ];
    for agent in AGENTS {
        for template in templates {
            let mut decoder = decoder(agent, Meter::default());
            for stream in [Stream::Out, Stream::Err] {
                decoder.line(stream, template.replace('T', &long).as_bytes(), false);
            }
            decoder.end(&AgentExit::Code(1));
            assert!(decoder.final_text().unwrap_or_default().len() <= 256 * 1024, "{agent} {template}");
            let failure = decoder.failure().map(|failure| failure.text).unwrap_or_default();
            assert!(failure.len() <= 4 * 1024, "{agent} {template}: {}", failure.len());
        }
    }
}

/// Something that looks like an event of either agent.
fn event() -> impl Strategy<Value = Vec<u8>> {
    let name = prop_oneof![
        Just("type"),
        Just("item"),
        Just("id"),
        Just("message"),
        Just("error"),
        Just("usage"),
        Just("text"),
        Just("status"),
        Just("role"),
        Just("content"),
        Just("stats"),
        Just("tool_id"),
        Just("changes"),
        Just("input_tokens"),
        Just("cached_input_tokens"),
        Just("total_tokens"),
        Just("output"),
        Just("questions"),
    ];
    let word = prop_oneof![
        Just("turn.completed"),
        Just("turn.failed"),
        Just("item.completed"),
        Just("item.started"),
        Just("error"),
        Just("agent_message"),
        Just("command_execution"),
        Just("file_change"),
        Just("mcp_tool_call"),
        Just("todo_list"),
        Just("message"),
        Just("assistant"),
        Just("tool_use"),
        Just("tool_result"),
        Just("result"),
        Just("success"),
        Just("init"),
        Just("Reconnecting... 1/"),
        Just("request_user_input"),
        Just("[API Error: {\"error\":{\"code\":99999}}"),
        Just("unexpected status 99999999999"),
    ];
    let leaf = prop_oneof![
        word.prop_map(|word| serde_json::json!(word)),
        any::<i64>().prop_map(|number| serde_json::json!(number)),
        any::<f64>().prop_map(|number| serde_json::json!(number)),
        ".{0,20}".prop_map(|text| serde_json::json!(text)),
        Just(serde_json::Value::Null),
    ];
    let value = leaf.prop_recursive(4, 24, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::Array),
            prop::collection::vec((name.clone(), inner), 0..6)
                .prop_map(|all| all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    });
    value.prop_map(|value| value.to_string().into_bytes())
}

fn line() -> impl Strategy<Value = Line> {
    let bytes = prop_oneof![
        4 => event(),
        1 => prop::collection::vec(any::<u8>(), 0..100),
        1 => r"(Attempt [0-9]{1,12} failed|Error|    at |Retrying after [0-9]{0,30}ms|\x1b\[[0-9]*m?|é){0,4}"
            .prop_map(String::into_bytes),
    ];
    (prop_oneof![Just(Stream::Out), Just(Stream::Err)], bytes)
}

proptest! {
    #[test]
    fn no_line_makes_them_fall(lines in prop::collection::vec(line(), 0..12), cut in any::<bool>()) {
        for agent in AGENTS {
            let mut decoder = decoder(agent, Meter::default());
            for (stream, line) in &lines {
                decoder.line(*stream, line, cut);
            }
            decoder.end(&AgentExit::Code(1));
            let ended = decoder.failure().is_none();
            prop_assert!(!ended || lines.iter().any(|(stream, _)| *stream == Stream::Out));
        }
    }

    #[test]
    fn lines_that_are_no_events_are_passed_on(line in prop::collection::vec(any::<u8>(), 1..100)) {
        prop_assume!(!line.trim_ascii_end().is_empty());
        for agent in AGENTS {
            let events = decoder(agent, Meter::default()).line(Stream::Out, &line, false);
            prop_assert!(matches!(events[..], [AgentEvent::Raw { .. }]), "{:?}", events);
        }
    }
}
