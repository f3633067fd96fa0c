//! From the lines of Gemini CLI to events.

use fleet_core::event::{AgentEvent, Counted, Stream, Tokens};
use fleet_core::outcome::AgentExit;
use fleet_core::run::Reason;
use serde_json::Value;

use super::record::Messages;
use super::retries::{NoticeReader, RetryEvent};
use super::trouble::{by_exit, failure_of};
use crate::adapter::{AgentFailure, ContextReading, Decoder};
use crate::common::json::{count, object, text};
use crate::common::recent::Recent;
use crate::common::tool;
use crate::common::words::{self, LONGEST_FINAL, LONGEST_STDERR, TextTail, one_line};

/// How many tools are remembered by name: more do not run at once.
const MAX_RUNNING: usize = 64;

/// Its answers come in pieces, which are put together to whole lines, but to no more than this.
const LONGEST_PIECE: usize = 4 * 1024;

/// What it says when its model repeats itself.
const LOOPED: &str = "Loop detected, stopping execution";

#[derive(Debug)]
pub(super) struct GeminiDecoder {
    /// What it says between two tools.
    said: TextTail,
    /// Whether the next words begin a new message.
    is_over: bool,
    /// The line that has not ended.
    piece: String,
    running: Recent<String>,
    retries: NoticeReader,
    messages: Messages,
    /// Why the last attempt failed, unless it has done something since.
    trouble: Option<AgentFailure>,
    /// It saw its model go round in circles and stopped there, which it calls a success.
    looped: Option<AgentFailure>,
    /// The end that it reported.
    end: Option<Result<(), AgentFailure>>,
    stderr: TextTail,
}

impl Default for GeminiDecoder {
    fn default() -> Self {
        Self {
            said: TextTail::new(LONGEST_FINAL),
            is_over: false,
            piece: String::new(),
            running: Recent::new(MAX_RUNNING),
            retries: NoticeReader::default(),
            messages: Messages::default(),
            trouble: None,
            looped: None,
            end: None,
            stderr: TextTail::new(LONGEST_STDERR),
        }
    }
}

impl Decoder for GeminiDecoder {
    fn line(&mut self, stream: Stream, line: &[u8], cut: bool) -> Vec<AgentEvent> {
        let understood = match stream {
            Stream::Out if !cut => object(line).and_then(|event| self.event(&event)),
            Stream::Out => None,
            Stream::Err => self.complaint(&words::sentence(line)),
        };
        understood.unwrap_or_else(|| AgentEvent::raw(stream, line, cut).into_iter().collect())
    }

    fn record(&mut self, line: &[u8]) -> Vec<AgentEvent> {
        self.messages.line(line)
    }

    fn end(&mut self, exit: &AgentExit) -> Vec<AgentEvent> {
        let mut events = self.flush();
        let notice = self.retries.end().into_iter().collect();
        events.extend(self.retried(notice));
        let failure = match self.end.take() {
            Some(Ok(())) => None,
            Some(Err(failure)) => Some(failure),
            None => Some(self.trouble.take().unwrap_or_else(|| self.failure_without_result(exit))),
        };
        self.end = Some(failure.map_or(Ok(()), |failure| Err(by_exit_if_unknown(failure, exit))));
        events
    }

    fn final_text(&self) -> Option<&str> {
        self.said.some()
    }

    fn context(&self) -> Option<ContextReading> {
        self.messages.context()
    }

    fn failure(&self) -> Option<AgentFailure> {
        self.end.clone().and_then(Result::err)
    }
}

impl GeminiDecoder {
    /// What an event means; `None` if that is unknown.
    fn event(&mut self, event: &Value) -> Option<Vec<AgentEvent>> {
        match text(event, "type")? {
            "init" => {
                let session = words::id(text(event, "session_id")?);
                let model = text(event, "model").map(|model| AgentEvent::Model { model: words::id(model) });
                Some([AgentEvent::SessionStarted { session }].into_iter().chain(model).collect())
            }
            "message" => self.message(event),
            "tool_use" => Some(self.tool_use(event)),
            "tool_result" => Some(self.tool_result(event)),
            "error" => Some(self.warning(text(event, "message").unwrap_or_default())),
            "result" => self.result(event),
            _ => None,
        }
    }

    fn message(&mut self, event: &Value) -> Option<Vec<AgentEvent>> {
        let content = text(event, "content").unwrap_or_default();
        match text(event, "role")? {
            // The prompt, once more.
            "user" => Some(Vec::new()),
            "assistant" => Some(self.says(content)),
            _ => None,
        }
    }

    fn says(&mut self, content: &str) -> Vec<AgentEvent> {
        self.trouble = None;
        if std::mem::take(&mut self.is_over) {
            self.said.clear();
        }
        self.said.add(content);
        self.piece.push_str(content);
        let whole = match self.piece.rfind('\n') {
            _ if self.piece.len() > LONGEST_PIECE => self.piece.len(),
            Some(end) => end + 1,
            None => return Vec::new(),
        };
        let rest = self.piece.split_off(whole);
        let events = self.flush();
        self.piece = rest;
        events
    }

    /// What it has said and not yet reported.
    fn flush(&mut self) -> Vec<AgentEvent> {
        let piece = std::mem::take(&mut self.piece);
        let text = piece.trim_end();
        if text.is_empty() { Vec::new() } else { vec![AgentEvent::Text { text: words::said(text) }] }
    }

    fn tool_use(&mut self, event: &Value) -> Vec<AgentEvent> {
        self.trouble = None;
        self.is_over = true;
        let mut events = self.flush();
        let id = words::id(text(event, "tool_id").unwrap_or_default());
        let name = one_line(text(event, "tool_name").unwrap_or_default());
        let input = &event["parameters"];
        self.running.add(&id, name.clone());
        let (summary, files) = (tool::summary(input), tool::files(input));
        events.push(AgentEvent::ToolCall { id, name, summary, files });
        events
    }

    fn tool_result(&mut self, event: &Value) -> Vec<AgentEvent> {
        let id = words::id(text(event, "tool_id").unwrap_or_default());
        let error = &event["error"];
        let said = text(event, "output").or_else(|| text(error, "message"));
        let summary = words::result(said.unwrap_or_default());
        let tool = self.running.remove(&id).unwrap_or_default();
        let mut events = self.flush();
        let is_denied =
            text(error, "type") == Some("policy_violation") || summary.starts_with("Access denied");
        if !error.is_null() && is_denied {
            events.push(AgentEvent::Denied { tool, text: summary.clone() });
        }
        let ok = text(event, "status") == Some("success");
        events.push(AgentEvent::ToolResult { id, ok, summary, files: Vec::new() });
        events
    }

    /// Something after which it continues, unless it says that it stops.
    fn warning(&mut self, message: &str) -> Vec<AgentEvent> {
        let failure = AgentFailure::new(Reason::AgentError, words::trouble(message));
        let mut events = self.flush();
        events.extend(failure.events());
        if message.starts_with(LOOPED) {
            self.looped = Some(failure);
        }
        events
    }

    fn result(&mut self, event: &Value) -> Option<Vec<AgentEvent>> {
        let status = text(event, "status")?;
        let mut events = self.flush();
        events
            .extend(event.get("stats").map(tokens).filter(|tokens| *tokens != Tokens::default()).map(usage));
        if let Some(failure) = self.looped.take() {
            self.end = Some(Err(failure));
            return Some(events);
        }
        if status == "success" {
            self.end = Some(Ok(()));
            events.push(AgentEvent::Ended { text: self.final_text().map(str::to_owned) });
            return Some(events);
        }
        let error = &event["error"];
        let mut failure = failure_of(text(error, "message").unwrap_or("Gemini CLI ended with an error"));
        if text(error, "type") == Some("FatalAuthenticationError") {
            failure.reason = Reason::Auth;
        }
        events.extend(failure.events());
        self.end = Some(Err(failure));
        Some(events)
    }

    /// A line of standard error; `None` if it is just a line.
    fn complaint(&mut self, line: &str) -> Option<Vec<AgentEvent>> {
        let line = line.trim_end();
        // Where in its own code an error came up: many lines for each attempt, and of use to its authors only.
        if line.starts_with("    at ") || line.starts_with("      at ") {
            return Some(Vec::new());
        }
        let Some(notices) = self.retries.line(line) else {
            self.stderr.push(line);
            return None;
        };
        Some(self.retried(notices))
    }

    fn retried(&mut self, notices: Vec<RetryEvent>) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        for (event, failure) in notices {
            events.extend(event);
            self.trouble = Some(failure);
        }
        events
    }

    /// It ended without a result, as it does when it is terminated: standard error may say why, otherwise the exit
    /// does.
    fn failure_without_result(&self, exit: &AgentExit) -> AgentFailure {
        let complaint = |line: &&str| {
            ["Error", "error:", "Auth method", "auth method", "trusted directory"]
                .iter()
                .any(|word| line.contains(word))
        };
        match self.stderr.as_str().lines().rev().find(complaint) {
            Some(line) => failure_of(line),
            None => {
                AgentFailure::new(Reason::AgentError, format!("Gemini CLI ended without a result: {exit}"))
            }
        }
    }
}

/// The exit status is a hint, for what no words explain.
fn by_exit_if_unknown(failure: AgentFailure, exit: &AgentExit) -> AgentFailure {
    let reason = match failure.reason {
        Reason::AgentError => by_exit(exit).unwrap_or(Reason::AgentError),
        known => known,
    };
    AgentFailure { reason, ..failure }
}

fn usage(tokens: Tokens) -> AgentEvent {
    AgentEvent::Usage { tokens, counted: Counted::Total }
}

/// Of this process only, also in a conversation that went on. Thinking is nowhere but in the total; it is paid like
/// what is written.
fn tokens(stats: &Value) -> Tokens {
    let (read, written) = (count(stats, "input_tokens"), count(stats, "output_tokens"));
    let thought = count(stats, "total_tokens").saturating_sub(read).saturating_sub(written);
    let cache_read = count(stats, "cached");
    Tokens {
        input: read.saturating_sub(cache_read),
        output: written.saturating_add(thought),
        cache_read,
        cache_write: 0,
    }
}
