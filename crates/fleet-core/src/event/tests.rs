use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::run::AgentState;

#[test]
fn facts_survive_the_store() {
    let fact = Fact::TaskHeld { remark: Some("later \"perhaps\"".to_owned()) };
    let (kind, data) = fact.parts();
    assert_eq!((kind.as_str(), data.as_str()), ("task.held", r#"{"remark":"later \"perhaps\""}"#));
    assert_eq!(Fact::from_parts(&kind, &data).unwrap(), fact);
    let newer = Fact::from_parts("task.dreamt", r#"{"of":1}"#).unwrap();
    assert_eq!(newer.parts(), ("task.dreamt".to_owned(), r#"{"of":1}"#.to_owned()));
}

fn text() -> String {
    "a".to_owned()
}

/// One event of each kind.
fn examples() -> Vec<AgentEvent> {
    let (text, files) = (text(), vec!["f".to_owned()]);
    let tokens = Tokens { input: 1, output: 2, cache_read: 3, cache_write: 4 };
    vec![
        AgentEvent::SessionStarted { session: text.clone() },
        AgentEvent::WorksIn { directory: text.clone() },
        AgentEvent::Model { model: text.clone() },
        AgentEvent::Text { text: text.clone() },
        AgentEvent::Reasoning { text: text.clone() },
        AgentEvent::ToolCall {
            id: text.clone(),
            name: text.clone(),
            summary: text.clone(),
            files: files.clone(),
        },
        AgentEvent::ToolResult { id: text.clone(), ok: true, summary: text.clone(), files },
        AgentEvent::Usage { tokens, counted: Counted::Delta },
        AgentEvent::Cost { micro_usd: 5, counted: Counted::Total },
        AgentEvent::RateLimit { until: Some(When::After(Duration::from_secs(2))), text: text.clone() },
        AgentEvent::Retry { attempt: Some(1), wait_ms: Some(7), text: text.clone() },
        AgentEvent::Denied { tool: text.clone(), text: text.clone() },
        AgentEvent::Error { reason: Reason::Auth, text: text.clone() },
        AgentEvent::Warning { text: text.clone() },
        AgentEvent::Question { text: text.clone() },
        AgentEvent::Ended { text: None },
        AgentEvent::State { state: AgentState::AsksPermission, text: text.clone(), evidence: text.clone() },
        AgentEvent::Prompted { text: text.clone() },
        AgentEvent::Raw { stream: Stream::Err, text, cut: true },
        AgentEvent::Gap { bytes: 9 },
    ]
}

/// JSON in one order of fields, whatever features `serde_json` was built with.
fn sorted(value: &Value) -> String {
    let Value::Object(fields) = value else { return value.to_string() };
    let fields: BTreeMap<_, _> = fields.iter().map(|(name, value)| (name, sorted(value))).collect();
    let fields = fields.into_iter().map(|(name, value)| format!("{name:?}: {value}"));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
}

fn lines(values: impl IntoIterator<Item = String>) -> String {
    values.into_iter().collect::<Vec<_>>().join("\n")
}

#[test]
fn every_kind_has_one_shape_for_decoding_one_for_logs_and_one_for_the_store() {
    insta::assert_snapshot!(lines(examples().iter().map(|event| sorted(&json!(event)))));
    let logged = examples().into_iter().filter(AgentEvent::is_logged);
    insta::assert_snapshot!(lines(logged.map(|event| sorted(&event.log_line(None)))));
    let stored: Vec<Fact> = examples().into_iter().filter_map(|event| event.fact(|_| Millis(8))).collect();
    let parts = stored.iter().map(Fact::parts);
    let parts = parts.map(|(kind, data)| format!("{kind} {}", sorted(&data.parse().unwrap())));
    insta::assert_snapshot!(lines(parts));
}

/// As earlier versions stored them.
#[test]
fn events_of_earlier_versions_are_read() {
    let earlier = include_str!("earlier.jsonl");
    for line in earlier.lines() {
        let stored: Value = serde_json::from_str(line).unwrap();
        let (kind, data) = (stored["kind"].as_str().unwrap(), stored["data"].to_string());
        let fact = Fact::from_parts(kind, &data).unwrap();
        assert!(!matches!(fact, Fact::Unknown { .. }), "{line}");
        let (again, written) = fact.parts();
        let written: Value = serde_json::from_str(&written).unwrap();
        assert_eq!((again.as_str(), written), (kind, stored["data"].clone()), "{line}");
    }
    assert_eq!(earlier.lines().count(), 9);
}

#[test]
fn events_travel_as_they_are() {
    for event in examples() {
        let read: AgentEvent = serde_json::from_value(json!(event)).unwrap();
        assert_eq!(read, event);
    }
    for local in [
        LocalTime { date: Some((2026, 11, 7)), hour: 4, minute: 46 },
        LocalTime { date: None, hour: 19, minute: 4 },
    ] {
        let read: When = serde_json::from_value(json!(When::Local(local))).unwrap();
        assert_eq!(read, When::Local(local));
    }
    assert!(serde_json::from_value::<When>(json!({ "local": "soon" })).is_err());
}

#[test]
fn long_texts_are_cut_before_they_are_stored() {
    let long = AgentEvent::Text { text: "ä".repeat(10_000) };
    let Some(Fact::Agent(AgentEvent::Text { text })) = long.fact(|_| Millis(0)) else { panic!("not stored") };
    assert!(text.len() <= 4 * 1024 && text.ends_with('…'), "{}", text.len());
}

/// The lists of names say what they mean.
#[test]
fn kinds_are_named_as_they_are_stored() {
    let reported = Fact::RunReported { status: text(), summary: text() };
    let notes = [
        Fact::RunNote { text: text() },
        Fact::RunProgress { text: text(), percent: None },
        reported.clone(),
        Fact::RunPrompted { number: 1, text: text() },
        Fact::Agent(AgentEvent::Error { reason: Reason::Auth, text: text() }),
        Fact::warning(text()),
        Fact::RunStopping { why: text() },
        Fact::RunOmitted { count: 1 },
    ];
    assert_eq!(notes.each_ref().map(Fact::kind).as_slice(), NOTES);
    let trouble = [
        Fact::Agent(AgentEvent::Retry { attempt: None, wait_ms: None, text: text() }),
        Fact::Agent(AgentEvent::RateLimit { until: None, text: text() }),
        Fact::Agent(AgentEvent::Denied { tool: text(), text: text() }),
        notes[4].clone(),
        notes[5].clone(),
        notes[6].clone(),
        reported,
    ];
    assert_eq!(trouble.each_ref().map(Fact::kind).as_slice(), TROUBLE);
    assert_eq!([notes[5].kind()].as_slice(), WARNING);
    assert_eq!([notes[0].kind()].as_slice(), NOTE);
}
