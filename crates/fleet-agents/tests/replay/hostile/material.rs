//! The agents, and the recordings that there are of them to be broken.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use fleet_agents::{Adapter, Custom, CustomSpec, OutputPatterns, Registry, Stream};
use fleet_core::run::Reason;
use serde_json::Value;

use crate::harness::{Line, agent, err, names, out};

/// All agents that are known, and some that a user describes.
pub(super) static AGENTS: LazyLock<Registry> = LazyLock::new(|| {
    let known = Registry::default();
    let patterns = OutputPatterns {
        session: Some("session(?:_id)?\\W+(\\S+)".to_owned()),
        usage: Some("(?<input>[0-9.,k]+)\\D+(?<output>[0-9.,k]+)".to_owned()),
        errors: vec![(Reason::RateLimited, "429".to_owned()), (Reason::Auth, "(?i)key".to_owned())],
    };
    let described = ["lines", "claude", "opencode", "acp"].map(|output| {
        let spec = CustomSpec {
            name: format!("like-{output}"),
            program: "x".to_owned(),
            output: Some(output.to_owned()),
            patterns: patterns.clone(),
            ..CustomSpec::default()
        };
        Arc::new(Custom::new(spec, &known).map_err(|error| error.to_string()).unwrap()) as Arc<dyn Adapter>
    });
    Registry::default().with(described)
});

/// The agents with a decoder of their own.
pub(super) const OWN: &[&str] =
    &["claude", "codex", "gemini", "opencode", "agy", "acp", "copilot", "demo", "like-lines"];

/// Where an agent's recordings are. One that has none is given those of another.
fn folder(agent: &str) -> &str {
    match agent.strip_prefix("like-").unwrap_or(agent) {
        "qwen" | "copilot" => "acp",
        "agy" | "lines" => "gemini",
        other => other,
    }
}

/// The lines of one process.
pub(super) type Recorded = (String, Vec<Line>);

/// Every recording of an agent.
pub(super) fn recordings(name: &str) -> Vec<Recorded> {
    if name == "demo" {
        let all = include_bytes!("../../../src/demo/recorded.jsonl").split(|byte| *byte == b'\n');
        return vec![("demo".to_owned(), all.map(|line| (Stream::Out, line.to_vec())).collect())];
    }
    let folder = folder(name);
    let own = |recording: &String| !["qwen", "copilot"].contains(&name) || agent(folder, recording) == name;
    let names = names(folder).into_iter().filter(own);
    names.map(|name| (name.clone(), [out(folder, &name), err(folder, &name)].concat())).collect()
}

/// Some lines of an agent: one of each shape.
pub(super) fn shapes(agent: &str) -> Vec<Line> {
    let mut known = BTreeSet::new();
    let mut lines: Vec<Line> = recordings(agent).into_iter().flat_map(|(_, lines)| lines).collect();
    lines.retain(|(stream, line)| known.insert((*stream == Stream::Out, shape(line))));
    lines
}

/// What is left of a line without its numbers and words.
fn shape(line: &[u8]) -> String {
    match serde_json::from_slice::<Value>(line) {
        Ok(value) => {
            let mut shape = String::new();
            outline(&value, "", &mut shape);
            shape
        }
        Err(_) => String::from_utf8_lossy(line).chars().filter(char::is_ascii_alphabetic).take(50).collect(),
    }
}

/// The keys of a value, and the words that say what kind of thing it is.
fn outline(value: &Value, key: &str, shape: &mut String) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                shape.push_str(key);
                outline(value, key, shape);
            }
        }
        Value::Array(all) => all.iter().take(1).for_each(|value| outline(value, key, shape)),
        Value::String(word) if KINDS.contains(&key) => shape.push_str(word),
        _ => shape.push(','),
    }
}

/// What agents call the kind of a thing.
const KINDS: &[&str] =
    &["type", "subtype", "sessionUpdate", "role", "status", "kind", "method", "name", "reason", "stopReason"];
