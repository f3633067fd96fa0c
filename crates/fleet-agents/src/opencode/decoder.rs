//! From opencode's events and log to ours.

use fleet_core::event::{AgentEvent, Counted, Stream, Tokens};
use fleet_core::outcome::AgentExit;
use fleet_core::run::Reason;
use serde_json::Value;

use super::log::LogLine;
use crate::adapter::{AgentFailure, ContextReading, Decoder};
use crate::common::amount::micro_usd;
use crate::common::json::{count, fraction, number, object, text};
use crate::common::words::{self, one_line};
use crate::common::{ansi, refusal, reset, tool};

#[derive(Debug, Default)]
pub(super) struct OpencodeDecoder {
    session: Option<String>,
    final_text: Option<String>,
    context: Option<ContextReading>,
    /// The error that ended the turn.
    trouble: Option<AgentFailure>,
    /// What its log says went wrong since it last got on. It may still get over it.
    doubt: Option<AgentFailure>,
    /// How its last step ended: `stop` is the end of the turn, `tool-calls` is not.
    last_step: Option<String>,
    /// The last tool that it was not allowed to use, since it last said something.
    refused: Option<String>,
    /// The answer that is being written; the same once more is a new try.
    answer: Option<String>,
    /// Failed requests since the last success.
    failed: u32,
    /// Whether its log is there, which reports failed requests better than the answers do.
    has_log: bool,
    /// The last thing on standard error that reads like the end of it all.
    complaint: Option<String>,
}

impl OpencodeDecoder {
    fn event(&mut self, line: &Value) -> Option<Vec<AgentEvent>> {
        let mut events = Vec::new();
        let part = &line["part"];
        match text(line, "type")? {
            "step_start" => events.extend(self.step(part)),
            "text" => events.extend(self.said(part["text"].as_str()?)),
            "reasoning" => events.push(AgentEvent::Reasoning { text: words::said(text(part, "text")?) }),
            "tool_use" => events.extend(self.tool(line.get("part")?)),
            "step_finish" => events.extend(self.finished(line.get("part")?)),
            "error" => events.extend(self.refused(line.get("error")?)),
            _ => return None,
        }
        if let Some(session) = text(line, "sessionID") {
            let started = self.started(session);
            events.splice(0..0, started);
        }
        Some(events)
    }

    fn started(&mut self, session: &str) -> Option<AgentEvent> {
        if self.session.is_some() {
            return None;
        }
        let session = words::id(session);
        self.session = Some(session.clone());
        Some(AgentEvent::SessionStarted { session })
    }

    /// It recovered: earlier trouble is over.
    fn mark_recovered(&mut self) {
        self.trouble = None;
        self.doubt = None;
        self.failed = 0;
    }

    /// A step begins. Once more in the same answer means that the answer broke off before.
    fn step(&mut self, part: &Value) -> Option<AgentEvent> {
        let answer = text(part, "messageID").map(words::id);
        let is_again = answer.is_some() && answer == self.answer;
        self.answer = answer;
        self.last_step = None;
        if !is_again || self.has_log {
            return None;
        }
        self.failed += 1;
        let text = "the answer broke off".to_owned();
        self.doubt = Some(AgentFailure::new(Reason::ProviderOutage, text.clone()));
        Some(AgentEvent::Retry { attempt: Some(self.failed), wait_ms: None, text })
    }

    fn said(&mut self, text: &str) -> Option<AgentEvent> {
        self.mark_recovered();
        self.refused = None;
        if text.trim().is_empty() {
            return None;
        }
        self.final_text = Some(words::last(text));
        Some(AgentEvent::Text { text: words::said(text) })
    }

    /// A tool, which is reported only when it has ended.
    pub(super) fn tool(&mut self, part: &Value) -> Vec<AgentEvent> {
        self.mark_recovered();
        let state = &part["state"];
        let name = one_line(text(part, "tool").unwrap_or("tool"));
        let id = words::id(text(part, "callID").unwrap_or_default());
        let input = &state["input"];
        let files = tool::files(input);
        let error = text(state, "error");
        let summary = words::result(error.or_else(|| text(state, "output")).unwrap_or_default());
        let ok = text(state, "status") == Some("completed");
        let mut events = vec![AgentEvent::ToolCall {
            id: id.clone(),
            name: name.clone(),
            summary: tool::summary(input),
            files: files.clone(),
        }];
        if error.is_some_and(is_refusal) {
            self.refused = Some(format!("`{name}` was refused: {summary}"));
            events.push(AgentEvent::Denied { tool: name, text: summary.clone() });
        }
        events.push(AgentEvent::ToolResult { id, ok, summary, files });
        events
    }

    pub(super) fn finished(&mut self, part: &Value) -> Vec<AgentEvent> {
        self.mark_recovered();
        self.answer = None;
        self.last_step = text(part, "reason").map(one_line);
        let tokens = &part["tokens"];
        let tokens = Tokens {
            input: count(tokens, "input"),
            // What it thought is written by the model, too, and not in the number beside.
            output: count(tokens, "output").saturating_add(count(tokens, "reasoning")),
            cache_read: count(&tokens["cache"], "read"),
            cache_write: count(&tokens["cache"], "write"),
        };
        self.context = ContextReading::of_request(tokens).or(self.context);
        let counted = Counted::Delta;
        let cost = fraction(part, "cost").and_then(micro_usd);
        let mut events = vec![AgentEvent::Usage { tokens, counted }];
        events.extend(cost.map(|micro_usd| AgentEvent::Cost { micro_usd, counted }));
        events
    }

    /// An error that ends the turn.
    fn refused(&mut self, error: &Value) -> Vec<AgentEvent> {
        let failure = failure(error);
        let events = failure.events();
        self.trouble = Some(failure);
        events
    }

    fn log(&mut self, line: &LogLine<'_>) -> Vec<AgentEvent> {
        self.has_log = true;
        let mut events = Vec::new();
        match line.message() {
            "created" => {
                let session = line.get("id").filter(|id| id.starts_with("ses_"));
                // The first is ours; what opencode makes for helpers of its own comes later.
                events.extend(session.and_then(|session| self.started(session)));
            }
            // A conversation that goes on brings the directory along in which it began, whatever it was started with.
            "creating instance" => events.extend(line.get("directory").map(tool::working_directory)),
            // The next step: the request of the one before was answered.
            "loop" => self.failed = 0,
            "stream" if self.failed > 0 && line.is_main() => {
                let text = self.doubt.as_ref().map(|doubt| doubt.text.clone()).unwrap_or_default();
                events.push(AgentEvent::Retry { attempt: Some(self.failed), wait_ms: None, text });
            }
            "stream error" if line.is_main() => {
                self.failed = self.failed.saturating_add(1);
                events.extend(self.request_failed(line.get("error.error").unwrap_or_default()));
            }
            "failed" if line.is_trouble() => {
                events.extend(self.request_failed(line.get("error").unwrap_or_default()));
            }
            _ => {}
        }
        events
    }

    /// A request failed. A failure that waiting cannot fix is reported at once: opencode itself keeps trying.
    fn request_failed(&mut self, message: &str) -> Vec<AgentEvent> {
        let message = message.strip_prefix("AI_APICallError: ").unwrap_or(message);
        let reason = refusal::reason(None, message, &[]).unwrap_or(Reason::ProviderOutage);
        let failure = AgentFailure::new(reason, words::trouble(message));
        let is_urgent = reason.is_hopeless() || reason == Reason::RateLimited;
        let events = if is_urgent { failure.events() } else { Vec::new() };
        self.doubt = Some(failure);
        events
    }

    fn on_error(&mut self, line: &[u8], cut: bool) -> Vec<AgentEvent> {
        let lossy = String::from_utf8_lossy(line);
        let plain = ansi::plain(&lossy);
        let plain = plain.trim();
        if let Some(log) = LogLine::parse(plain) {
            let is_known = matches!(log.message(), "stream error" | "failed" | "process");
            let mut events = self.log(&log);
            // Chatter is in the raw log; what went wrong is for people.
            if events.is_empty() && log.is_trouble() && !is_known {
                events.extend(AgentEvent::raw(Stream::Err, line, cut));
            }
            return events;
        }
        if let Some(complaint) = plain.strip_prefix("Error: ") {
            self.complaint = Some(words::trouble(complaint));
        }
        AgentEvent::raw(Stream::Err, line, cut).into_iter().collect()
    }
}

impl Decoder for OpencodeDecoder {
    fn line(&mut self, stream: Stream, line: &[u8], cut: bool) -> Vec<AgentEvent> {
        if stream == Stream::Err {
            return self.on_error(line, cut);
        }
        let parsed = if cut { None } else { object(line) };
        match parsed.and_then(|parsed| self.event(&parsed)) {
            Some(events) => events,
            None => AgentEvent::raw(stream, line, cut).into_iter().collect(),
        }
    }

    fn end(&mut self, exit: &AgentExit) -> Vec<AgentEvent> {
        if self.trouble.is_some() || matches!(exit, AgentExit::NotStarted(_)) {
            return Vec::new();
        }
        if self.last_step.as_deref() == Some("stop") {
            self.doubt = None;
            return vec![AgentEvent::Ended { text: self.final_text.clone() }];
        }
        if self.doubt.is_some() {
            return Vec::new();
        }
        let why = match (&self.complaint, &self.refused, self.last_step.as_deref()) {
            (Some(complaint), _, _) => complaint.clone(),
            (None, Some(refused), _) => format!("it stopped when {refused}"),
            (None, None, Some(reason)) if reason != "tool-calls" => {
                format!("the model's last answer ended with `{reason}`")
            }
            _ => format!("{exit} in the middle of its turn"),
        };
        let complaint = self.complaint.as_deref().unwrap_or_default();
        let reason = refusal::reason(None, complaint, &[]).unwrap_or(Reason::AgentError);
        self.trouble = Some(AgentFailure::new(reason, words::trouble(&why)));
        Vec::new()
    }

    fn context(&self) -> Option<ContextReading> {
        self.context
    }

    fn final_text(&self) -> Option<&str> {
        self.final_text.as_deref()
    }

    fn failure(&self) -> Option<AgentFailure> {
        // It hides the causes of its own failures, which only the log has.
        let is_vague = |trouble: &&AgentFailure| trouble.reason == Reason::AgentError && self.doubt.is_some();
        self.trouble.as_ref().filter(|trouble| !is_vague(trouble)).or(self.doubt.as_ref()).cloned()
    }
}

/// Whether a tool's error is that it was not allowed: by a person, or by a rule.
fn is_refusal(error: &str) -> bool {
    error.contains("rejected permission") || error.contains("a rule which prevents you")
}

pub(super) fn failure(error: &Value) -> AgentFailure {
    let data = &error["data"];
    let name = text(error, "name").unwrap_or_default();
    let message = text(data, "message").unwrap_or(name);
    let body = text(data, "responseBody").unwrap_or_default();
    let status = number(data, "statusCode");
    // A failure of its own comes with a number under which its log has the cause.
    let is_own = status.is_none() && (name == "MessageAbortedError" || data.get("ref").is_some());
    let told = refusal::reason(status, &format!("{name} {message} {body}"), &[]).filter(|_| !is_own);
    let reason = told.unwrap_or(match name {
        // Without a status there was no answer.
        "APIError" if status.is_none() && !is_own => Reason::ProviderOutage,
        _ => Reason::AgentError,
    });
    let body = object(body.as_bytes()).unwrap_or_default();
    let until = match reason {
        Reason::QuotaExhausted => reset::in_body(&body),
        Reason::RateLimited => reset::in_body(&body).or_else(|| reset::in_headers(&data["responseHeaders"])),
        _ => None,
    };
    AgentFailure { until, ..AgentFailure::new(reason, words::trouble(message)) }
}
