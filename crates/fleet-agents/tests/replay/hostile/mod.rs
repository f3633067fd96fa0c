//! Streams that are cut off, mixed up, blown up or made to hurt, for every decoder that there is: none falls, none gives
//! more than it may, and the same lines always give the same events. What there is to break is taken from the
//! recordings, so that a new agent only has to be recorded.

mod material;
mod random;

use fleet_agents::{Adapter, AgentEvent, AgentFailure, Decoder, Stream};
use fleet_core::outcome::AgentExit;
use serde_json::{Value, json};

use crate::harness::{Line, plain};
use material::{AGENTS, OWN, recordings, shapes};

/// One line may tell of so many things.
const MAX_EVENTS: usize = 70;
/// The longest text of an event, and the last answer.
const LONGEST_TEXT: usize = 64 * 1024;
const LONGEST_FINAL: usize = 256 * 1024;
/// Names, ids and summaries, and what went wrong.
const LONGEST_LINE: usize = 1024;
const LONGEST_TROUBLE: usize = 4 * 1024;
/// The name of a kind, a reason and a stream are texts, too.
const LONGEST_NAMES: usize = 100;
const MAX_FILES: usize = 50;

/// Everything that a decoder gives.
#[derive(Debug, Default, PartialEq)]
struct Heard {
    events: Vec<AgentEvent>,
    said: Vec<u8>,
    last: Option<String>,
    failure: Option<AgentFailure>,
}

impl Heard {
    fn has_ended(&self) -> bool {
        self.events.iter().any(|event| matches!(event, AgentEvent::Ended { .. }))
    }
}

fn decoder(agent: &str) -> Box<dyn Decoder> {
    AGENTS.find(agent).unwrap().decoder(&plain())
}

/// Feeds lines, in the order in which a keeper does, and insists on the limits.
fn heard<'l>(agent: &str, lines: impl IntoIterator<Item = (Stream, &'l [u8], bool)>) -> Heard {
    let mut decoder = decoder(agent);
    let mut heard = Heard { said: decoder.reply(), ..Heard::default() };
    for (stream, line, cut) in lines {
        let events = decoder.line(stream, line, cut);
        within(agent, &events, &String::from_utf8_lossy(&line[..line.len().min(400)]));
        heard.events.extend(events);
        heard.said.extend(decoder.reply());
    }
    let events = decoder.end(&AgentExit::Signal(9));
    within(agent, &events, "the end");
    heard.events.extend(events);
    heard.last = decoder.final_text().map(str::to_owned);
    heard.failure = decoder.failure();
    assert!(heard.last.as_ref().is_none_or(|last| last.len() <= LONGEST_FINAL), "{agent}: the last words");
    let trouble = heard.failure.as_ref().map_or(0, |failure| failure.text.len());
    assert!(trouble <= LONGEST_TROUBLE, "{agent}: {trouble} bytes of trouble");
    heard
}

fn whole(lines: &[Line]) -> impl Iterator<Item = (Stream, &[u8], bool)> {
    lines.iter().map(|(stream, line)| (*stream, line.as_slice(), false))
}

fn within(agent: &str, events: &[AgentEvent], line: &str) {
    assert!(events.len() <= MAX_EVENTS, "{agent}: {} events of {line}", events.len());
    for event in events {
        let fits = match event {
            AgentEvent::SessionStarted { session: id } | AgentEvent::Model { model: id } => {
                id.len() <= LONGEST_LINE
            }
            AgentEvent::WorksIn { directory } => directory.len() <= 4096,
            AgentEvent::Text { text } | AgentEvent::Reasoning { text } => text.len() <= LONGEST_TEXT,
            AgentEvent::ToolCall { id, name, summary, files } => {
                id.len() + name.len() + summary.len() <= 3 * LONGEST_LINE && few(files)
            }
            AgentEvent::ToolResult { id, summary, files, .. } => {
                id.len() + summary.len() <= 2 * LONGEST_LINE && few(files)
            }
            AgentEvent::Denied { tool, text } => tool.len() + text.len() <= LONGEST_TROUBLE,
            AgentEvent::Ended { text } => text.as_ref().is_none_or(|text| text.len() <= LONGEST_FINAL),
            // Whatever kinds there are, and will be.
            other => texts(&serde_json::to_value(other).unwrap()) <= LONGEST_TROUBLE + LONGEST_NAMES,
        };
        let told = format!("{event:?}");
        assert!(fits, "{agent}: {}… of {line}", &told[..told.floor_char_boundary(200)]);
    }
}

/// How many bytes of text an event holds.
fn texts(event: &Value) -> usize {
    let values = event.as_object().into_iter().flat_map(|fields| fields.values());
    values.filter_map(Value::as_str).map(str::len).sum()
}

fn few(files: &[String]) -> bool {
    files.len() <= MAX_FILES && files.iter().all(|file| file.len() <= 4096)
}

#[test]
fn every_decoder_is_tried() {
    let others = ["qwen", "like-claude", "like-opencode", "like-acp"];
    let mut known: Vec<&str> = OWN.iter().copied().chain(others).collect();
    known.sort_unstable();
    let mut all: Vec<&str> = AGENTS.all().map(Adapter::name).collect();
    all.sort_unstable();
    assert_eq!(known, all);
    for agent in all {
        assert!(shapes(agent).len() > 8, "{agent} has {} shapes", shapes(agent).len());
    }
}

/// The demo agent's own end says nothing; what becomes of its run is told by its exit.
#[test]
fn cut_off_after_any_line_a_run_has_failed_or_said_its_end() {
    for agent in OWN.iter().filter(|agent| **agent != "demo") {
        for (name, lines) in recordings(agent) {
            for kept in some(lines.len(), 15) {
                let heard = heard(agent, whole(&lines[..kept]));
                assert!(heard.failure.is_some() || heard.has_ended(), "{agent}: {name} after {kept} lines");
            }
        }
    }
}

/// At every byte, of long lines near their ends. What is left of an event is no event, is kept as it is, and leaves no trace in what comes after.
#[test]
fn broken_lines_are_kept_and_do_no_harm() {
    for agent in OWN {
        for (stream, line) in shapes(agent) {
            let near = |end: &usize| *end <= 250 || line.len() - end <= 250;
            let ends: Vec<usize> = (1..line.len()).filter(near).collect();
            let pieces: Vec<_> = ends.iter().map(|end| (stream, &line[..*end], false)).collect();
            let is_event = line.starts_with(b"{") && stream == Stream::Out;
            if !is_event || ["agy", "like-lines"].contains(agent) {
                heard(agent, pieces);
                continue;
            }
            let mut broken = heard(agent, pieces.into_iter().chain([(stream, line.as_slice(), false)]));
            let kept = broken.events.extract_if(.., |event| matches!(event, AgentEvent::Raw { .. })).count();
            let mut alone = heard(agent, [(stream, line.as_slice(), false)]);
            let own = alone.events.extract_if(.., |event| matches!(event, AgentEvent::Raw { .. })).count();
            assert_eq!(kept, ends.len() + own, "{agent}: {}", String::from_utf8_lossy(&line));
            assert_eq!(broken, alone, "{agent}: {}", String::from_utf8_lossy(&line));
        }
    }
}

#[test]
fn lines_may_be_missing_come_twice_or_in_another_order() {
    for agent in OWN {
        let all = recordings(agent);
        for (at, (_, lines)) in all.iter().enumerate() {
            let (_, other) = &all[(at + 1) % all.len()];
            let twice: Vec<Line> = lines.iter().flat_map(|line| [line.clone(), line.clone()]).collect();
            let reversed: Vec<Line> = lines.iter().rev().cloned().collect();
            let mixed: Vec<Line> =
                lines.iter().zip(other.iter().cycle()).flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
            for lines in [twice, reversed, mixed] {
                heard(agent, whole(&lines));
            }
            for missing in some(lines.len(), 4) {
                let mut swapped = lines.clone();
                swapped.swap(missing, lines.len() - 1);
                heard(agent, whole(&swapped));
                swapped.remove(missing);
                heard(agent, whole(&swapped));
            }
        }
    }
}

/// Texts and lists without end, in every place where there is one.
#[test]
fn what_is_kept_and_told_is_bounded() {
    let long = "漢 ".repeat(17_000);
    for agent in OWN {
        for (stream, line) in shapes(agent) {
            let Ok(value) = serde_json::from_slice::<Value>(&line) else {
                let line = [line.as_slice(), long.as_bytes()].concat();
                heard(agent, [(stream, line.as_slice(), false), (stream, line.as_slice(), true)]);
                continue;
            };
            for blown in [blown_up(&value, "", &long), with_long_lists(&value)] {
                let blown = blown.to_string();
                heard(agent, [(stream, line.as_slice(), false), (stream, blown.as_bytes(), false)]);
            }
        }
    }
}

/// About so many of the numbers below this one.
fn some(end: usize, most: usize) -> impl Iterator<Item = usize> {
    (0..end).step_by(end / most + 1)
}

/// With a long text in place of every text that says no kind: of most, as much as is too long for them is enough.
fn blown_up(value: &Value, key: &str, long: &str) -> Value {
    match value {
        Value::String(_) if ["type", "subtype", "sessionUpdate", "method", "role", "kind"].contains(&key) => {
            value.clone()
        }
        Value::String(_) if ["text", "thinking", "content", "result"].contains(&key) => json!(long),
        Value::String(_) => json!(long[..6_000]),
        Value::Array(all) => all.iter().take(1).map(|value| blown_up(value, key, long)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.clone(), blown_up(value, key, long))).collect()
        }
        other => other.clone(),
    }
}

/// With a hundred things in place of every list that is in no other.
fn with_long_lists(value: &Value) -> Value {
    match value {
        Value::Array(all) => all.iter().cycle().take(if all.is_empty() { 0 } else { 100 }).cloned().collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.clone(), with_long_lists(value))).collect()
        }
        other => other.clone(),
    }
}
