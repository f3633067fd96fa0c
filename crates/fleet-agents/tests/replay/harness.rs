//! Plays a recording to a decoder, and compares what it gives with what a person read in it.

use std::fs;
use std::path::{Path, PathBuf};

use fleet_agents::{AgentEvent, AgentFailure, Brief, Counted, Decoder, Registry, Stream, Tokens, When};
use fleet_core::outcome::AgentExit;
use fleet_core::run::Reason;
use serde_json::Value;

/// What a recording shows.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// How the process ended; a recording that says so itself is believed.
    pub(crate) exit: AgentExit,
    /// How the id of the conversation begins.
    pub(crate) session: &'static str,
    /// Read, written, read from the cache, written to it.
    pub(crate) tokens: [u64; 4],
    pub(crate) micro_usd: u64,
    pub(crate) tools: usize,
    /// How the paths of the files end that tools were used on, each once.
    pub(crate) files: &'static [&'static str],
    pub(crate) retries: usize,
    /// The tools that were refused.
    pub(crate) denied: &'static [&'static str],
    /// How often a limit of the account was told.
    pub(crate) limits: usize,
    /// When the limit is over.
    pub(crate) until: Option<When>,
    /// How often the agent said that it is through.
    pub(crate) ended: usize,
    /// How the last answer begins.
    pub(crate) answer: &'static str,
    /// Why it failed, and how its words begin.
    pub(crate) failure: Option<(Reason, &'static str)>,
}

/// Nothing happened, and that went well.
pub(crate) const NOTHING: Row = Row {
    name: "",
    exit: AgentExit::Code(0),
    session: "",
    tokens: [0; 4],
    micro_usd: 0,
    tools: 0,
    files: &[],
    retries: 0,
    denied: &[],
    limits: 0,
    until: None,
    ended: 1,
    answer: "",
    failure: None,
};

/// One line and where it came from.
pub(crate) type Line = (Stream, Vec<u8>);

/// The events and the decoder of one process.
pub(crate) struct Played {
    pub(crate) events: Vec<AgentEvent>,
    pub(crate) decoder: Box<dyn Decoder>,
}

impl Played {
    pub(crate) fn failure(&self) -> Option<AgentFailure> {
        self.decoder.failure()
    }

    pub(crate) fn reason(&self) -> Option<Reason> {
        self.failure().map(|failure| failure.reason)
    }

    pub(crate) fn seen(&self) -> Seen {
        Seen::of(&self.events)
    }
}

/// A task without anything special.
pub(crate) fn plain() -> Brief<'static> {
    Brief::plain("Do it", Path::new("/fixture/repo"))
}

pub(crate) fn decoder(agent: &str, brief: &Brief<'_>) -> Box<dyn Decoder> {
    Registry::default().find(agent).unwrap().decoder(brief)
}

fn file(folder: &str, name: &str, ending: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/recordings")
        .join(folder)
        .join(format!("{name}.{ending}"))
}

fn lines(folder: &str, name: &str, ending: &str, stream: Stream) -> Vec<Line> {
    let text = fs::read(file(folder, name, ending)).unwrap_or_default();
    text.split_inclusive(|byte| *byte == b'\n')
        .map(|line| (stream, line.strip_suffix(b"\n").unwrap_or(line).to_vec()))
        .collect()
}

/// Standard output.
pub(crate) fn out(folder: &str, name: &str) -> Vec<Line> {
    let lines = lines(folder, name, "jsonl", Stream::Out);
    if folder != "acp" {
        return lines;
    }
    // What the recording client wrote is left out, because ours writes for itself.
    let heard = lines.into_iter().filter_map(|(stream, line)| {
        let line: Value = serde_json::from_slice(&line).unwrap();
        (line["dir"] == "<").then(|| (stream, line["m"].to_string().into_bytes()))
    });
    heard.collect()
}

/// Standard error.
pub(crate) fn err(folder: &str, name: &str) -> Vec<Line> {
    lines(folder, name, "stderr", Stream::Err)
}

/// The agent that made a recording.
pub(crate) fn agent<'n>(folder: &'n str, name: &'n str) -> &'n str {
    let own = name.split('-').next().filter(|word| folder == "acp" && ["qwen", "copilot"].contains(word));
    own.unwrap_or(folder)
}

/// How the process ended, for recordings that say it.
pub(crate) fn exit(folder: &str, name: &str) -> Option<AgentExit> {
    let meta = fs::read(file(folder, name, "meta.json")).ok()?;
    let code = serde_json::from_slice::<Value>(&meta).unwrap()["rc"].as_i64();
    let code: i32 = code.unwrap().try_into().unwrap();
    Some(if code < 0 { AgentExit::Signal(-code) } else { AgentExit::Code(code) })
}

/// The names of all recordings.
pub(crate) fn names(folder: &str) -> Vec<String> {
    let files = fs::read_dir(file(folder, "x", "x").parent().unwrap()).unwrap();
    let name = |entry: fs::DirEntry| entry.file_name().to_str()?.strip_suffix(".jsonl").map(str::to_owned);
    let mut names: Vec<String> = files.filter_map(|entry| name(entry.unwrap())).collect();
    names.sort();
    names
}

pub(crate) fn play(mut decoder: Box<dyn Decoder>, lines: &[Line], exit: &AgentExit) -> Played {
    let mut events = Vec::new();
    for (stream, line) in lines {
        events.extend(decoder.line(*stream, line, false));
        decoder.reply();
    }
    events.extend(decoder.end(exit));
    Played { events, decoder }
}

/// Every row against its recording. The two streams come through two pipes, so that either may be read first.
pub(crate) fn compare(folder: &str, rows: &[Row], brief: impl Fn(&str) -> Brief<'static>) {
    let mut known: Vec<&str> = rows.iter().map(|row| row.name).collect();
    known.sort_unstable();
    assert_eq!(known, names(folder), "a row for each recording");
    for row in rows {
        let (out, err) = (out(folder, row.name), err(folder, row.name));
        let exit = exit(folder, row.name).unwrap_or_else(|| row.exit.clone());
        for (lines, order) in [([out.clone(), err.clone()], "output first"), ([err, out], "errors first")] {
            let decoder = decoder(agent(folder, row.name), &brief(row.name));
            check(row, &play(decoder, &lines.concat(), &exit), &format!("{}, {order}", row.name));
        }
    }
}

fn check(row: &Row, played: &Played, name: &str) {
    let (seen, failure) = (played.seen(), played.failure());
    let begins = |text: &str, start: &str| text.starts_with(start) && text.is_empty() == start.is_empty();
    assert_eq!(played.reason(), row.failure.map(|(reason, _)| reason), "{name}: {failure:?}");
    if let (Some(failure), Some((_, words))) = (&failure, row.failure) {
        assert!(failure.text.starts_with(words), "{name}: {failure:?}");
        assert_eq!(failure.until, row.until, "{name}");
    }
    assert!(begins(&seen.session, row.session), "{name}: {}", seen.session);
    let tokens = [seen.tokens.input, seen.tokens.output, seen.tokens.cache_read, seen.tokens.cache_write];
    assert_eq!((tokens, seen.micro_usd), (row.tokens, row.micro_usd), "{name}");
    let files = seen.files.iter().zip(row.files).all(|(file, end)| file.ends_with(end));
    assert!(files && seen.files.len() == row.files.len(), "{name}: {:?}", seen.files);
    assert_eq!((seen.tools, seen.retries), (row.tools, row.retries), "{name}: tools and attempts");
    assert_eq!(seen.denied, row.denied, "{name}");
    assert_eq!(seen.limits.len(), row.limits, "{name}: {:?}", seen.limits);
    assert_eq!(seen.limits.last().copied().flatten(), row.until, "{name}");
    assert_eq!(seen.ended, row.ended, "{name}");
    let answer = played.decoder.final_text().unwrap_or_default();
    assert!(begins(answer, row.answer), "{name}: {answer:?}");
}

/// What the events say, added up as a keeper does.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) session: String,
    pub(crate) tokens: Tokens,
    pub(crate) micro_usd: u64,
    pub(crate) tools: usize,
    pub(crate) files: Vec<String>,
    pub(crate) retries: usize,
    pub(crate) denied: Vec<String>,
    pub(crate) limits: Vec<Option<When>>,
    pub(crate) errors: Vec<Reason>,
    pub(crate) raw: usize,
    pub(crate) ended: usize,
}

impl Seen {
    pub(crate) fn of(events: &[AgentEvent]) -> Self {
        let mut seen = Self::default();
        for event in events {
            seen.add(event);
        }
        seen
    }

    fn add(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::SessionStarted { session } => {
                assert_eq!(self.session, "", "a session starts once");
                self.session.clone_from(session);
            }
            AgentEvent::ToolCall { files, .. } => {
                self.tools += 1;
                self.named(files);
            }
            AgentEvent::ToolResult { files, .. } => self.named(files),
            AgentEvent::Usage { tokens, counted: Counted::Total } => self.tokens = *tokens,
            AgentEvent::Usage { tokens, counted: Counted::Delta } => {
                self.tokens.input += tokens.input;
                self.tokens.output += tokens.output;
                self.tokens.cache_read += tokens.cache_read;
                self.tokens.cache_write += tokens.cache_write;
            }
            AgentEvent::Cost { micro_usd, counted: Counted::Total } => self.micro_usd = *micro_usd,
            AgentEvent::Cost { micro_usd, counted: Counted::Delta } => self.micro_usd += micro_usd,
            AgentEvent::RateLimit { until, .. } => self.limits.push(*until),
            AgentEvent::Retry { .. } => self.retries += 1,
            AgentEvent::Denied { tool, .. } => self.denied.push(tool.clone()),
            AgentEvent::Error { reason, .. } => self.errors.push(*reason),
            AgentEvent::Ended { .. } => self.ended += 1,
            AgentEvent::Raw { .. } => self.raw += 1,
            _ => {}
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
