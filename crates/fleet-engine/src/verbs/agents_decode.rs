//! What a recorded stream of an agent means: for reports of defects, and to see whether a new version still fits.
//!
//! The same decoder as in a run sees the same lines. Nothing is stored, and the answer is bounded, whatever is recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fleet_agents::{AgentEvent, AgentFailure, Brief, Decoder, Meter, Stream, Tokens};
use fleet_api::verbs::agents_decode::{Answer, MeterView, OutcomeView, Request};
use fleet_core::outcome::AgentExit;
use fleet_core::text::shortened;
use fleet_host::lines::{Line, LineSplitter};

use super::agents_show::find;
use super::prelude::*;
use crate::keeper::journal::LONGEST_LINE;

/// More events are of no use; they are counted.
const MAX_EVENTS: usize = 10_000;
/// Events from more bytes than this are counted, too: a few lines can be as long as many.
const MAX_BYTES: usize = 32 * 1024 * 1024;
/// Further files are not listed.
const MAX_FILES: usize = 1_000;
/// Longer words are cut.
const LONGEST_TEXT: usize = 64 * 1024;

/// Decodes. What was written to standard error comes first: nothing tells when it was written, and what matters in it
/// (warnings, attempts that failed) is followed by its consequence.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let adapter = find(engine, &request.agent)?;
    let brief = Brief { model: request.model.as_deref(), ..Brief::plain("", Path::new("/")) };
    let mut heard = Recording::new(adapter.decoder(&brief));
    // Agents that are spoken with wait for words; what they would have been told is of no interest here.
    heard.decoder.reply();
    heard.listen(Stream::Err, request.err.as_bytes());
    heard.listen(Stream::Out, request.out.as_bytes());
    Ok(heard.end(request))
}

struct Recording {
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
    events: Vec<AgentEvent>,
}

impl Recording {
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

    fn listen(&mut self, stream: Stream, text: &[u8]) {
        let mut lines = LineSplitter::new(LONGEST_LINE);
        lines.push(text, &mut |line| self.line(stream, &line));
        lines.finish(&mut |line| self.line(stream, &line));
    }

    fn line(&mut self, stream: Stream, line: &Line<'_>) {
        self.lines += 1;
        self.bytes = self.bytes.saturating_add(line.bytes.len());
        for event in self.decoder.line(stream, line.bytes, line.cut) {
            self.event(event);
        }
        self.decoder.reply();
    }

    fn event(&mut self, event: AgentEvent) {
        match &event {
            AgentEvent::SessionStarted { session } => self.session = Some(session.clone()),
            AgentEvent::Ended { .. } => self.ended = true,
            AgentEvent::Usage { tokens, counted } => self.tokens = self.tokens.then(*tokens, *counted),
            AgentEvent::Cost { micro_usd, counted } => {
                self.micro_usd = Some(counted.after(self.micro_usd.unwrap_or(0), *micro_usd));
            }
            AgentEvent::Retry { .. } => self.retries += 1,
            AgentEvent::Denied { .. } => self.denied += 1,
            AgentEvent::Raw { .. } => self.unknown += 1,
            AgentEvent::ToolCall { id, files, .. } if self.called.len() < MAX_FILES && !id.is_empty() => {
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
        if self.events.len() < MAX_EVENTS && self.bytes < MAX_BYTES {
            self.events.push(event);
        } else {
            self.left_out += 1;
        }
    }

    fn touched<'f>(&mut self, files: impl Iterator<Item = &'f String>) {
        let room = MAX_FILES.saturating_sub(self.files.len());
        self.files.extend(files.take(room).cloned());
    }

    fn end(mut self, request: Request) -> Answer {
        for event in self.decoder.end(&AgentExit::Code(request.exit_code)) {
            self.event(event);
        }
        // How far these came is unknown.
        let open = std::mem::take(&mut self.called);
        self.touched(open.values().flatten());
        let text = |text: &str| shortened(text, LONGEST_TEXT).into_owned();
        Answer {
            agent: request.agent,
            session: self.session,
            ended: self.ended,
            outcome: outcome(self.decoder.failure()),
            usage: self.tokens,
            micro_usd: self.micro_usd,
            meter: self.decoder.meter().map(|Meter { tokens, micro_usd }| MeterView { tokens, micro_usd }),
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

fn outcome(failure: Option<AgentFailure>) -> OutcomeView {
    match failure {
        None => OutcomeView { ok: true, reason: None, text: None, until: None },
        Some(AgentFailure { reason, text, until }) => OutcomeView {
            ok: false,
            reason: Some(reason),
            text: Some(shortened(&text, LONGEST_TEXT).into_owned()),
            until,
        },
    }
}

#[cfg(test)]
mod tests {
    use fleet_core::run::Reason;

    use super::*;
    use crate::EngineStart;
    use crate::environment::Environment;

    fn decoded(out: &[u8], err: &[u8]) -> Answer {
        let environment = Environment::from_pairs([("HOME", "/nowhere")]).with_current_directory("/");
        let engine = Engine::new(EngineStart { environment, directory: None, flags: Vec::new() }).unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let request =
            Request { agent: "demo".into(), model: None, exit_code: 0, out: text(out), err: text(err) };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(run(&engine, request)).unwrap()
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
        let response = decoded(line.repeat(MAX_EVENTS + 5).as_bytes(), b"");
        assert_eq!((response.events.len(), response.events_left_out), (MAX_EVENTS, 5));
        assert_eq!((response.final_text.as_deref(), response.outcome.ok), (Some("x"), true));
    }
}
