//! What a recorded stream of an agent means: for reports of defects, and to see whether a new version still fits.
//!
//! The same decoder as in a run sees the same lines. Nothing is stored, and memory is bounded, whatever is recorded.

mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

use fleet_agents::{AgentEvent, Brief, Decoder, Failure, Meter, Stream, Tokens};
use fleet_core::outcome::AgentExit;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::run::Reason;
use fleet_core::text::shortened;
use fleet_host::lines::{Line, Lines};
use serde::Serialize;

pub use view::{EventView, WhenView};

use super::agents_show::find;
use crate::Engine;
use crate::keeper::journal::LONGEST_LINE;

/// Whose stream it is, and how its process ended.
#[derive(Debug, Clone)]
pub struct Request {
    /// The agent.
    pub agent: String,
    /// The model that it was told to use.
    pub model: Option<String>,
    /// Its exit status.
    pub exit_code: i32,
}

/// What a recording means.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// The agent.
    pub agent: String,
    /// Its own id of the conversation.
    pub session: Option<String>,
    /// Whether the agent itself said that it is through.
    pub ended: bool,
    /// How it came out.
    pub outcome: OutcomeView,
    /// What was used, in all.
    pub usage: TokensView,
    /// What it cost by the agent's own account, in millionths of a US dollar; null if it does not tell.
    pub micro_usd: Option<u64>,
    /// What the agent's own counters stand at, if they count over the whole conversation.
    pub meter: Option<MeterView>,
    /// The last thing that it said.
    pub final_text: Option<String>,
    /// The files that its tools named, without those of tools that failed or were denied.
    pub files: BTreeSet<String>,
    /// How often it tried a request again by itself.
    pub retries: usize,
    /// How often it was not allowed to use a tool.
    pub denied: usize,
    /// How many lines there were.
    pub lines: usize,
    /// How many of them the adapter did not understand.
    pub unknown_lines: usize,
    /// How many events were left out, because there were too many.
    pub events_left_out: usize,
    /// The events, in order.
    pub events: Vec<EventView>,
}

/// How the agent's work came out, as far as its stream tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutcomeView {
    /// Whether nothing is known to have gone wrong.
    pub ok: bool,
    /// What went wrong.
    pub reason: Option<Reason>,
    /// The agent's words.
    pub text: Option<String>,
    /// When it is worth trying again.
    pub until: Option<WhenView>,
}

/// Tokens by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are those of Tokens")]
pub struct TokensView {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

impl From<Tokens> for TokensView {
    fn from(tokens: Tokens) -> Self {
        let Tokens { input, output, cache_read, cache_write } = tokens;
        Self { input, output, cache_read, cache_write }
    }
}

/// Counters of a whole conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MeterView {
    /// Tokens.
    pub tokens: TokensView,
    /// Millionths of a US dollar.
    pub micro_usd: u64,
}

/// More events tell nobody anything; they are counted.
const MOST_EVENTS: usize = 10_000;
/// Events from more bytes than this are counted, too: a few lines can be as long as many.
const MOST_BYTES: usize = 32 * 1024 * 1024;
/// More files are not listed.
const MOST_FILES: usize = 1_000;
/// Longer words are cut.
const LONGEST_TEXT: usize = 64 * 1024;
const CHUNK: usize = 64 * 1024;

/// Decodes. What was written to standard error comes first: nothing tells when it was written, and what matters in it
/// (warnings, attempts that failed) is followed by what came of it.
pub fn run(
    engine: &Engine,
    request: &Request,
    out: &mut dyn Read,
    err: Option<&mut dyn Read>,
) -> Outcome<Response> {
    let adapter = find(engine, &request.agent)?;
    let brief = Brief { model: request.model.as_deref(), ..Brief::plain("", Path::new("/")) };
    let mut heard = Heard::new(adapter.decoder(&brief));
    // Agents that are spoken with wait for words; what they would have been told is of no interest here.
    heard.decoder.reply();
    if let Some(err) = err {
        heard.listen(Stream::Err, err)?;
    }
    heard.listen(Stream::Out, out)?;
    Ok(heard.end(request))
}

struct Heard {
    decoder: Box<dyn Decoder>,
    session: Option<String>,
    ended: bool,
    tokens: Tokens,
    micro_usd: Option<u64>,
    files: BTreeSet<String>,
    /// The files of tools that are not over: one that was denied or failed has touched none.
    called: BTreeMap<String, Vec<String>>,
    retries: usize,
    denied: usize,
    lines: usize,
    /// Of those from which events were kept.
    bytes: usize,
    unknown: usize,
    left_out: usize,
    events: Vec<EventView>,
}

impl Heard {
    fn new(decoder: Box<dyn Decoder>) -> Self {
        Self {
            decoder,
            session: None,
            ended: false,
            tokens: Tokens::default(),
            micro_usd: None,
            files: BTreeSet::new(),
            called: BTreeMap::new(),
            retries: 0,
            denied: 0,
            lines: 0,
            bytes: 0,
            unknown: 0,
            left_out: 0,
            events: Vec::new(),
        }
    }

    fn listen(&mut self, stream: Stream, from: &mut dyn Read) -> Outcome<()> {
        let (mut lines, mut chunk) = (Lines::new(LONGEST_LINE), vec![0; CHUNK]);
        loop {
            let length = match from.read(&mut chunk) {
                Ok(0) => break,
                Ok(length) => length,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    return Err(Problem::new(Code::Io, format!("the recording cannot be read: {error}")));
                }
            };
            lines.push(&chunk[..length], &mut |line| self.line(stream, &line));
        }
        lines.finish(&mut |line| self.line(stream, &line));
        Ok(())
    }

    fn line(&mut self, stream: Stream, line: &Line<'_>) {
        self.lines += 1;
        self.bytes = self.bytes.saturating_add(line.bytes.len());
        for event in self.decoder.line(stream, line.bytes, line.cut) {
            self.event(&event);
        }
        self.decoder.reply();
    }

    fn event(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::SessionStarted { session } => self.session = Some(session.clone()),
            AgentEvent::Ended { .. } => self.ended = true,
            AgentEvent::Usage { tokens, counted } => self.tokens = self.tokens.then(*tokens, *counted),
            AgentEvent::Cost { micro_usd, counted } => {
                self.micro_usd = Some(counted.after(self.micro_usd.unwrap_or(0), *micro_usd));
            }
            AgentEvent::Retry { .. } => self.retries += 1,
            AgentEvent::Denied { .. } => self.denied += 1,
            AgentEvent::Raw { .. } => self.unknown += 1,
            AgentEvent::ToolCall { id, files, .. } if self.called.len() < MOST_FILES && !id.is_empty() => {
                self.called.insert(id.clone(), files.clone());
            }
            AgentEvent::ToolCall { files, .. } => self.touched(files.iter()),
            AgentEvent::ToolResult { id, ok, files, .. } => {
                let called = self.called.remove(id).unwrap_or_default();
                if *ok {
                    self.touched(called.iter().chain(files));
                }
            }
            _ => {}
        }
        if self.events.len() < MOST_EVENTS && self.bytes < MOST_BYTES {
            self.events.push(EventView::from(event));
        } else {
            self.left_out += 1;
        }
    }

    fn touched<'f>(&mut self, files: impl Iterator<Item = &'f String>) {
        let room = MOST_FILES.saturating_sub(self.files.len());
        self.files.extend(files.take(room).cloned());
    }

    fn end(mut self, request: &Request) -> Response {
        for event in self.decoder.end(&AgentExit::Code(request.exit_code)) {
            self.event(&event);
        }
        // Nobody knows how far these came.
        let open = std::mem::take(&mut self.called);
        self.touched(open.values().flatten());
        let text = |text: &str| shortened(text, LONGEST_TEXT).into_owned();
        Response {
            agent: request.agent.clone(),
            session: self.session,
            ended: self.ended,
            outcome: outcome(self.decoder.failure()),
            usage: self.tokens.into(),
            micro_usd: self.micro_usd,
            meter: self
                .decoder
                .meter()
                .map(|meter: Meter| MeterView { tokens: meter.tokens.into(), micro_usd: meter.micro_usd }),
            final_text: self.decoder.final_text().map(text),
            files: self.files,
            retries: self.retries,
            denied: self.denied,
            lines: self.lines,
            unknown_lines: self.unknown,
            events_left_out: self.left_out,
            events: self.events,
        }
    }
}

fn outcome(failure: Option<Failure>) -> OutcomeView {
    match failure {
        None => OutcomeView { ok: true, reason: None, text: None, until: None },
        Some(Failure { reason, text, until }) => OutcomeView {
            ok: false,
            reason: Some(reason),
            text: Some(shortened(&text, LONGEST_TEXT).into_owned()),
            until: until.map(WhenView::from),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Start;
    use crate::environment::Environment;

    fn decoded(out: &[u8], err: &[u8]) -> Response {
        let environment = Environment::from_pairs([("HOME", "/nowhere")]).with_current_directory("/");
        let engine = Engine::new(Start { environment, directory: None, flags: Vec::new() }).unwrap();
        let request = Request { agent: "demo".into(), model: None, exit_code: 0 };
        let (mut out, mut err) = (out, err);
        run(&engine, &request, &mut out, Some(&mut err)).unwrap()
    }

    #[test]
    fn a_recording_becomes_events_and_sums() {
        let out = b"{\"type\":\"session\",\"id\":\"s1\"}\nnot JSON\n{\"type\":\"usage\",\"input\":5,\"output\":2,\
            \"micro_usd\":7}\n{\"type\":\"usage\",\"input\":1,\"output\":1,\"micro_usd\":3}\n\
            {\"type\":\"rate_limit\",\"wait_ms\":1500}\n{\"type\":\"error\",\"reason\":\"auth\",\"text\":\"no\"}";
        let response = decoded(out, b"a warning\n\xff\n");
        assert_eq!((response.session.as_deref(), response.ended), (Some("s1"), false));
        assert_eq!((response.usage.input, response.usage.output, response.micro_usd), (6, 3, Some(10)));
        assert_eq!((response.lines, response.unknown_lines), (8, 3));
        let reason = response.outcome.reason;
        assert_eq!(
            (response.outcome.ok, reason, response.outcome.text.as_deref()),
            (false, Some(Reason::Auth), Some("no"))
        );
        let kinds = serde_json::to_value(&response.events).unwrap();
        let kinds: Vec<&str> =
            kinds.as_array().unwrap().iter().map(|event| event["kind"].as_str().unwrap()).collect();
        assert_eq!(
            kinds,
            ["raw", "raw", "session", "raw", "usage", "cost", "usage", "cost", "rate_limit", "error"]
        );
    }

    #[test]
    fn a_write_that_was_denied_has_touched_no_file() {
        let call = |id: &str| {
            format!(
                "{{\"type\":\"tool\",\"id\":\"{id}\",\"name\":\"write\",\"input\":\"{id}.txt\",\"files\":[\"{id}.txt\"]}}\n"
            )
        };
        let result = |id: &str, ok: bool| {
            format!("{{\"type\":\"tool_result\",\"id\":\"{id}\",\"ok\":{ok},\"output\":\"\",\"files\":[]}}\n")
        };
        let out = [call("a"), result("a", false), call("b"), result("b", true), call("open")].concat();
        let files: Vec<String> = decoded(out.as_bytes(), b"").files.into_iter().collect();
        assert_eq!(files, ["b.txt", "open.txt"]);
    }

    #[test]
    fn too_much_is_counted_instead_of_kept() {
        let line = "{\"type\":\"text\",\"text\":\"x\"}\n";
        let response = decoded(line.repeat(MOST_EVENTS + 5).as_bytes(), b"");
        assert_eq!((response.events.len(), response.events_left_out), (MOST_EVENTS, 5));
        assert_eq!((response.final_text.as_deref(), response.outcome.ok), (Some("x"), true));
    }
}
