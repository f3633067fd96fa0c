//! A recorded process, read again.

use std::path::PathBuf;

use fleet_core::outcome::AgentExit;
use fleet_core::run::Reason;

use crate::adapter::{Decoder, Failure, Stream};
use crate::event::{AgentEvent, Counted, Tokens, When};

/// What a recording holds.
pub(crate) struct Recording {
    pub(crate) out: Vec<Vec<u8>>,
    pub(crate) err: Vec<Vec<u8>>,
    pub(crate) exit: AgentExit,
}

/// What came of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) sessions: Vec<String>,
    pub(crate) tokens: Tokens,
    pub(crate) micro_usd: u64,
    pub(crate) files: Vec<String>,
    pub(crate) calls: usize,
    pub(crate) retries: usize,
    pub(crate) denied: Vec<String>,
    pub(crate) limits: Vec<Option<When>>,
    pub(crate) errors: Vec<Reason>,
    pub(crate) raw: usize,
    pub(crate) ended: usize,
    pub(crate) text: Option<String>,
    pub(crate) failure: Option<Failure>,
}

pub(crate) fn folder(agent: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/recordings").join(agent)
}

/// The names of all recordings of an agent.
pub(crate) fn names(agent: &str) -> Vec<String> {
    let files = std::fs::read_dir(folder(agent)).unwrap().map(|file| file.unwrap().file_name());
    let names = files.filter_map(|name| Some(name.to_str()?.strip_suffix(".jsonl")?.to_owned()));
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

pub(crate) fn recording(agent: &str, name: &str) -> Recording {
    let lines = |kind: &str| {
        let text = std::fs::read(folder(agent).join(format!("{name}.{kind}"))).unwrap_or_default();
        text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
    };
    let meta = std::fs::read(folder(agent).join(format!("{name}.meta.json"))).ok();
    let meta: serde_json::Value = meta.map(|meta| serde_json::from_slice(&meta).unwrap()).unwrap_or_default();
    let code = meta["rc"].as_i64().map_or(0, |code| i32::try_from(code).unwrap());
    let exit = if code < 0 { AgentExit::Signal(-code) } else { AgentExit::Code(code) };
    Recording { out: lines("jsonl"), err: lines("stderr"), exit }
}

/// Everything that a decoder makes of a recording.
pub(crate) fn replay(decoder: &mut dyn Decoder, recording: &Recording) -> Seen {
    let mut seen = Seen::default();
    for line in &recording.out {
        seen.see_all(&decoder.line(Stream::Out, line, false));
    }
    for line in &recording.err {
        seen.see_all(&decoder.line(Stream::Err, line, false));
    }
    seen.see_all(&decoder.end(&recording.exit));
    seen.text = decoder.final_text().map(str::to_owned);
    seen.failure = decoder.failure();
    seen
}

impl Seen {
    pub(crate) fn see_all(&mut self, events: &[AgentEvent]) {
        for event in events {
            self.see(event);
        }
    }

    fn see(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::SessionStarted { session } => self.sessions.push(session.clone()),
            AgentEvent::ToolCall { files, .. } => {
                self.calls += 1;
                self.named(files);
            }
            AgentEvent::ToolResult { files, .. } => self.named(files),
            AgentEvent::Usage { tokens, counted } => {
                assert_eq!(*counted, Counted::Delta);
                self.tokens.input += tokens.input;
                self.tokens.output += tokens.output;
                self.tokens.cache_read += tokens.cache_read;
                self.tokens.cache_write += tokens.cache_write;
            }
            AgentEvent::Cost { micro_usd, counted } => {
                assert_eq!(*counted, Counted::Delta);
                self.micro_usd += micro_usd;
            }
            AgentEvent::RateLimit { until, .. } => self.limits.push(*until),
            AgentEvent::Retry { .. } => self.retries += 1,
            AgentEvent::Denied { tool, .. } => self.denied.push(tool.clone()),
            AgentEvent::Error { reason, .. } => self.errors.push(*reason),
            AgentEvent::Ended { .. } => self.ended += 1,
            AgentEvent::Raw { .. } => self.raw += 1,
            AgentEvent::Text { .. } | AgentEvent::Reasoning { .. } | AgentEvent::Question { .. } => {}
        }
    }

    fn named(&mut self, files: &[String]) {
        for file in files {
            if !self.files.contains(file) {
                self.files.push(file.clone());
            }
        }
    }
}
