//! Plays a recording to a decoder, and compares what it gives with what a person read in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fleet_agents::{
    AgentEvent, Brief, Conversation, Counted, Decoder, Meter, Registry, Stream, Tokens, When,
};
use fleet_core::outcome::AgentExit;
use fleet_core::run::Reason;

/// What a recording shows.
#[derive(Debug, Clone)]
pub(crate) struct Shown {
    pub(crate) name: &'static str,
    pub(crate) exit: AgentExit,
    /// Why it failed, and how its words begin.
    pub(crate) failure: Option<(Reason, &'static str)>,
    /// When it is worth trying again.
    pub(crate) until: Option<Duration>,
    /// Read, written, read from the cache, written to it.
    pub(crate) tokens: [u64; 4],
    pub(crate) session: &'static str,
    /// How the last answer begins.
    pub(crate) answer: &'static str,
    pub(crate) tools: usize,
    pub(crate) files: &'static [&'static str],
    pub(crate) retries: usize,
    pub(crate) denied: usize,
}

/// Nothing happened, and that went well.
pub(crate) const NOTHING: Shown = Shown {
    name: "",
    exit: AgentExit::Code(0),
    failure: None,
    until: None,
    tokens: [0; 4],
    session: "",
    answer: "",
    tools: 0,
    files: &[],
    retries: 0,
    denied: 0,
};

/// The events and the decoder of one process.
pub(crate) struct Played {
    pub(crate) events: Vec<AgentEvent>,
    pub(crate) decoder: Box<dyn Decoder>,
}

/// One line and where it came from.
pub(crate) type Line = (Stream, Vec<u8>);

fn dir(agent: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings").join(agent)
}

fn lines(agent: &str, name: &str, ending: &str, stream: Stream) -> Vec<Line> {
    let text = fs::read(dir(agent).join(format!("{name}.{ending}"))).unwrap_or_default();
    text.split_inclusive(|byte| *byte == b'\n')
        .map(|line| (stream, line.strip_suffix(b"\n").unwrap_or(line).to_vec()))
        .collect()
}

pub(crate) fn out(agent: &str, name: &str) -> Vec<Line> {
    lines(agent, name, "jsonl", Stream::Out)
}

pub(crate) fn err(agent: &str, name: &str) -> Vec<Line> {
    lines(agent, name, "stderr", Stream::Err)
}

/// The names of all recordings.
pub(crate) fn names(agent: &str) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir(agent))
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".jsonl").map(str::to_owned))
        .collect();
    names.sort();
    names
}

pub(crate) fn decoder(agent: &str, before: Meter) -> Box<dyn Decoder> {
    let conversation = Conversation::Resume { session: "s", meter: before };
    let brief = Brief { conversation, ..Brief::plain("Do it", Path::new("/run/tree")) };
    Registry::default().find(agent).unwrap().decoder(&brief)
}

pub(crate) fn play(mut decoder: Box<dyn Decoder>, lines: &[Line], exit: &AgentExit) -> Played {
    let mut events: Vec<AgentEvent> =
        lines.iter().flat_map(|(stream, line)| decoder.line(*stream, line, false)).collect();
    events.extend(decoder.end(exit));
    Played { events, decoder }
}

/// Every row against its recording. Which stream is read first must not matter.
pub(crate) fn compare(agent: &str, table: &[Shown]) {
    let mut rows: Vec<&str> = table.iter().map(|row| row.name).collect();
    rows.sort_unstable();
    assert_eq!(rows, names(agent), "a row for each recording");
    for row in table {
        let (out, err) = (out(agent, row.name), err(agent, row.name));
        assert!(!out.is_empty() || !err.is_empty(), "{} is empty", row.name);
        for lines in [[out.clone(), err.clone()].concat(), [err, out].concat()] {
            check(row, &play(decoder(agent, Meter::default()), &lines, &row.exit));
        }
    }
}

fn check(row: &Shown, played: &Played) {
    let name = row.name;
    let failure = played.decoder.failure();
    let reason = failure.as_ref().map(|failure| failure.reason);
    assert_eq!(reason, row.failure.map(|(reason, _)| reason), "{name}: {failure:?}");
    if let (Some(failure), Some((_, words))) = (&failure, row.failure) {
        assert!(failure.text.starts_with(words), "{name}: {failure:?}");
        assert_eq!(failure.until, row.until.map(When::After), "{name}");
    }
    let seen = Seen::of(&played.events);
    assert_eq!(seen.session, row.session, "{name}");
    assert_eq!(seen.tokens, row.tokens, "{name}");
    assert_eq!(seen.files, row.files, "{name}");
    assert_eq!((seen.tools, seen.retries, seen.denied), (row.tools, row.retries, row.denied), "{name}");
    assert_eq!(seen.ends, usize::from(row.failure.is_none()), "{name}");
    let answer = played.decoder.final_text().unwrap_or_default();
    assert!(
        answer.starts_with(row.answer) && answer.is_empty() == row.answer.is_empty(),
        "{name}: {answer:?}"
    );
}

/// What the events say, added up as a keeper does.
#[derive(Default)]
struct Seen {
    session: String,
    tokens: [u64; 4],
    tools: usize,
    files: Vec<String>,
    retries: usize,
    denied: usize,
    ends: usize,
}

impl Seen {
    fn of(events: &[AgentEvent]) -> Self {
        let mut seen = Self::default();
        for event in events {
            seen.add(event);
        }
        seen.files.dedup();
        seen
    }

    fn add(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::SessionStarted { session } => self.session.clone_from(session),
            AgentEvent::ToolCall { files, .. } => {
                self.tools += 1;
                self.files.extend(files.iter().cloned());
            }
            AgentEvent::Usage { tokens, counted } => {
                assert_eq!(*counted, Counted::Total);
                let Tokens { input, output, cache_read, cache_write } = *tokens;
                self.tokens = [input, output, cache_read, cache_write];
            }
            AgentEvent::Retry { .. } => self.retries += 1,
            AgentEvent::Denied { .. } => self.denied += 1,
            AgentEvent::Ended { .. } => self.ends += 1,
            _ => {}
        }
    }
}
