//! Recorded streams, read by the decoders as the keeper would have read them.

use std::path::{Path, PathBuf};

use fleet_agents::{AgentEvent, Brief, Counted, Decoder, Failure, Registry, Stream, Tokens, When};
use fleet_core::outcome::AgentExit;
use fleet_core::run::Reason;

/// What a recording shows, written down by whoever read it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) session: Option<String>,
    pub(crate) tokens: Tokens,
    pub(crate) micro_usd: u64,
    pub(crate) files: Vec<String>,
    pub(crate) retries: usize,
    pub(crate) denied: usize,
    pub(crate) final_text: Option<String>,
    pub(crate) failure: Option<(Reason, String)>,
    pub(crate) until: Option<When>,
    pub(crate) ended: bool,
}

/// One line of a recording.
pub(crate) type Recorded = (Stream, Vec<u8>);

/// Where the recordings of an agent are.
pub(crate) fn folder(agent: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings").join(agent)
}

/// The lines of a file; none if it is not there.
pub(crate) fn lines(file: &Path, stream: Stream) -> Vec<Recorded> {
    let Ok(bytes) = std::fs::read(file) else { return Vec::new() };
    let mut lines: Vec<Recorded> =
        bytes.split(|byte| *byte == b'\n').map(|line| (stream, line.to_vec())).collect();
    if lines.last().is_some_and(|(_, line)| line.is_empty()) {
        lines.pop();
    }
    lines
}

/// A decoder for a task in `/fixture/repo`.
pub(crate) fn decoder(agent: &str, brief: &Brief<'_>) -> Box<dyn Decoder> {
    Registry::default().find(agent).unwrap().decoder(brief)
}

/// What a decoder makes of the lines.
pub(crate) fn shown(decoder: &mut dyn Decoder, lines: &[Recorded], exit: &AgentExit) -> Shown {
    let mut events: Vec<AgentEvent> = Vec::new();
    for (stream, line) in lines {
        events.extend(decoder.line(*stream, line, false));
        let _ = decoder.reply();
    }
    events.extend(decoder.end(exit));
    let failure = decoder.failure();
    let count = |wanted: fn(&AgentEvent) -> bool| events.iter().filter(|event| wanted(event)).count();
    let sessions: Vec<&String> = events
        .iter()
        .filter_map(
            |event| if let AgentEvent::SessionStarted { session } = event { Some(session) } else { None },
        )
        .collect();
    assert!(sessions.len() < 2, "a session starts once: {sessions:?}");
    Shown {
        session: sessions.first().map(|session| (*session).clone()),
        tokens: tokens(&events),
        micro_usd: money(&events),
        files: files(&events),
        retries: count(|event| matches!(event, AgentEvent::Retry { .. })),
        denied: count(|event| matches!(event, AgentEvent::Denied { .. })),
        final_text: decoder.final_text().map(ToOwned::to_owned),
        failure: failure.as_ref().map(|Failure { reason, text, .. }| (*reason, text.clone())),
        until: failure.and_then(|failure| failure.until),
        ended: count(|event| matches!(event, AgentEvent::Ended { .. })) == 1,
    }
}

fn tokens(events: &[AgentEvent]) -> Tokens {
    events.iter().fold(Tokens::default(), |sum, event| match event {
        AgentEvent::Usage { tokens, counted: Counted::Total } => *tokens,
        AgentEvent::Usage { tokens, counted: Counted::Delta } => Tokens {
            input: sum.input + tokens.input,
            output: sum.output + tokens.output,
            cache_read: sum.cache_read + tokens.cache_read,
            cache_write: sum.cache_write + tokens.cache_write,
        },
        _ => sum,
    })
}

fn money(events: &[AgentEvent]) -> u64 {
    events.iter().fold(0, |sum, event| match event {
        AgentEvent::Cost { micro_usd, counted: Counted::Total } => *micro_usd,
        AgentEvent::Cost { micro_usd, counted: Counted::Delta } => sum + micro_usd,
        _ => sum,
    })
}

fn files(events: &[AgentEvent]) -> Vec<String> {
    let mut found = Vec::new();
    for event in events {
        let (AgentEvent::ToolCall { files, .. } | AgentEvent::ToolResult { files, .. }) = event else {
            continue;
        };
        for file in files {
            if !found.contains(file) {
                found.push(file.clone());
            }
        }
    }
    found
}

/// Ways in which a recording goes wrong: cut after every line, lines twice, in another order, and damaged.
pub(crate) fn spoilt(lines: &[Recorded]) -> Vec<Vec<Recorded>> {
    let mut ways: Vec<Vec<Recorded>> = (0..lines.len()).map(|end| lines[..end].to_vec()).collect();
    ways.push(lines.iter().flat_map(|line| [line.clone(), line.clone()]).collect());
    ways.push(lines.iter().rev().cloned().collect());
    for (index, (stream, line)) in lines.iter().enumerate() {
        let halves = [line[..line.len() / 2].to_vec(), line[line.len() / 2..].to_vec()];
        let nulls = line.iter().map(|byte| if byte.is_ascii_digit() { 0 } else { *byte }).collect();
        let quotes = line.iter().map(|byte| if *byte == b'"' { b'\'' } else { *byte }).collect();
        let grown = [line.as_slice(), line.as_slice()].concat();
        for damaged in [halves.to_vec(), vec![nulls], vec![quotes], vec![grown], vec![vec![0xff; 4096]]] {
            let mut way = lines[..index].to_vec();
            way.extend(damaged.into_iter().map(|line| (*stream, line)));
            way.extend_from_slice(&lines[index + 1..]);
            ways.push(way);
        }
    }
    ways
}
