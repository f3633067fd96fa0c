//! From Codex's lines to events.

use fleet_core::event::{AgentEvent, Stream};
use fleet_core::outcome::AgentExit;
use fleet_core::run::{Meter, Reason};
use serde_json::Value;

use super::counters::Counters;
use super::items::{ItemStage, ToolItem};
use super::trouble::{RetryNotice, failure_of};
use crate::adapter::{AgentFailure, ContextReading, Decoder};
use crate::common::json::{list, object, text};
use crate::common::recent::Recent;
use crate::common::words::{self, LONGEST_STDERR, TextTail};

/// How many tools are remembered as running: more do not run at once.
const MAX_RUNNING: usize = 64;

#[derive(Debug)]
pub(super) struct CodexDecoder {
    counters: Counters,
    final_text: Option<String>,
    running: Recent<()>,
    /// The last failure since the agent last made progress.
    trouble: Option<AgentFailure>,
    /// The last reported error: Codex repeats each two or three times.
    told: Option<AgentFailure>,
    /// The end that Codex reported.
    end: Option<Result<(), AgentFailure>>,
    stderr: TextTail,
}

impl Decoder for CodexDecoder {
    fn line(&mut self, stream: Stream, line: &[u8], cut: bool) -> Vec<AgentEvent> {
        let understood = match stream {
            Stream::Out if !cut => object(line).and_then(|event| self.event(&event)),
            Stream::Out => None,
            Stream::Err => {
                self.stderr.push(words::sentence(line).trim_end());
                None
            }
        };
        understood.unwrap_or_else(|| AgentEvent::raw(stream, line, cut).into_iter().collect())
    }

    fn record(&mut self, line: &[u8]) -> Vec<AgentEvent> {
        let Some(line) = object(line) else { return Vec::new() };
        let payload = &line["payload"];
        match (text(&line, "type"), text(payload, "type")) {
            (Some("turn_context"), _) => {
                let model = text(payload, "model").map(|model| AgentEvent::Model { model: words::id(model) });
                model.into_iter().collect()
            }
            (Some("event_msg"), Some("token_count")) => {
                self.counters.requested(&payload["info"]);
                let usage = payload["info"].get("total_token_usage");
                usage.map(|usage| self.counters.used(usage)).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn end(&mut self, exit: &AgentExit) -> Vec<AgentEvent> {
        if self.end.is_none() {
            let failure = self.trouble.take().unwrap_or_else(|| self.failure_without_result(exit));
            self.end = Some(Err(failure));
        }
        Vec::new()
    }

    fn final_text(&self) -> Option<&str> {
        self.final_text.as_deref()
    }

    fn meter(&self) -> Option<Meter> {
        self.counters.now()
    }

    fn context(&self) -> Option<ContextReading> {
        self.counters.context()
    }

    fn failure(&self) -> Option<AgentFailure> {
        self.end.clone().and_then(Result::err)
    }
}

impl CodexDecoder {
    pub(super) const fn new(before: Meter) -> Self {
        Self {
            counters: Counters::new(before),
            final_text: None,
            running: Recent::new(MAX_RUNNING),
            trouble: None,
            told: None,
            end: None,
            stderr: TextTail::new(LONGEST_STDERR),
        }
    }

    /// What an event means; `None` if that is unknown.
    fn event(&mut self, event: &Value) -> Option<Vec<AgentEvent>> {
        Some(match text(event, "type")? {
            "thread.started" => {
                let session = words::id(text(event, "thread_id")?);
                vec![AgentEvent::SessionStarted { session }]
            }
            // The turn says nothing yet, and a plan comes again as a whole.
            "turn.started" | "item.plan.delta" => Vec::new(),
            "turn.completed" => self.completed(event),
            "turn.failed" => self.failed(text(&event["error"], "message")?),
            "error" => self.error(text(event, "message")?),
            "item.started" => return self.item(ItemStage::Started, &event["item"]),
            "item.updated" => return self.item(ItemStage::Updated, &event["item"]),
            "item.completed" => return self.item(ItemStage::Completed, &event["item"]),
            "request_user_input" => question(event),
            _ => return None,
        })
    }

    fn completed(&mut self, event: &Value) -> Vec<AgentEvent> {
        self.end = Some(Ok(()));
        self.trouble = None;
        let ended = AgentEvent::Ended { text: self.final_text.clone() };
        event.get("usage").map(|usage| self.counters.used(usage)).into_iter().chain([ended]).collect()
    }

    fn failed(&mut self, message: &str) -> Vec<AgentEvent> {
        let failure = failure_of(message);
        let events = self.tell(&failure);
        self.end = Some(Err(failure));
        events
    }

    fn error(&mut self, message: &str) -> Vec<AgentEvent> {
        let again = RetryNotice::read(message);
        let failure = failure_of(again.map_or(message, |again| again.why));
        let mut events = Vec::new();
        if let Some(RetryNotice { attempt, .. }) = again {
            events.push(AgentEvent::Retry { attempt, wait_ms: None, text: words::trouble(message) });
        }
        // A refusal is reported at its first sign: Codex would keep trying what can only be refused again.
        if again.is_none() || failure.reason.is_hopeless() {
            events.extend(self.tell(&failure));
        }
        self.trouble = Some(failure);
        events
    }

    /// Reports a failure to people and to the keeper, once.
    fn tell(&mut self, failure: &AgentFailure) -> Vec<AgentEvent> {
        if self.told.as_ref() == Some(failure) {
            return Vec::new();
        }
        self.told = Some(failure.clone());
        failure.events()
    }

    fn item(&mut self, stage: ItemStage, item: &Value) -> Option<Vec<AgentEvent>> {
        let done = stage == ItemStage::Completed;
        match text(item, "type")? {
            // Not a failure: unknown model data, or another way to the provider.
            "error" if done => {
                let text = words::trouble(text(item, "message").unwrap_or_default());
                return Some(vec![AgentEvent::Warning { text }]);
            }
            "agent_message" | "plan" | "reasoning" if !done => return Some(Vec::new()),
            "agent_message" | "plan" => {
                let text = text(item, "text")?;
                self.progress();
                self.final_text = Some(words::last(text));
                return Some(vec![AgentEvent::Text { text: words::said(text) }]);
            }
            "reasoning" => {
                self.progress();
                return Some(vec![AgentEvent::Reasoning { text: words::said(text(item, "text")?) }]);
            }
            _ => {}
        }
        let tool = ToolItem::read(item)?;
        self.progress();
        Some(self.tool(stage, tool))
    }

    /// Some tools are reported only when they have ended; each gets a call and a result.
    fn tool(&mut self, stage: ItemStage, tool: ToolItem) -> Vec<AgentEvent> {
        let is_known = self.running.contains(&tool.id);
        let mut events = Vec::new();
        if !is_known || stage == ItemStage::Updated {
            events.push(tool.call());
        }
        if stage == ItemStage::Completed {
            self.running.remove(&tool.id);
            events.extend(tool.end());
        } else if !is_known {
            self.running.add(&tool.id, ());
        }
        events
    }

    /// The agent does something, so it has recovered.
    fn progress(&mut self) {
        self.trouble = None;
        self.told = None;
    }

    /// The failure if Codex ended without a result: from standard error, or else from the exit status.
    fn failure_without_result(&self, exit: &AgentExit) -> AgentFailure {
        let complaint = |line: &&str| {
            let line = line.trim_start();
            line.starts_with("Error") || line.starts_with("error") || line.starts_with("Not inside")
        };
        let text = match self.stderr.as_str().lines().rev().find(complaint) {
            Some(line) => words::trouble(line),
            None => format!("Codex did not finish its turn: {exit}"),
        };
        // No provider was asked yet, so only what Codex says about itself counts: a tool server may want a login, too.
        let reason = if text.contains("codex login") { Reason::Auth } else { Reason::AgentError };
        AgentFailure::new(reason, text)
    }
}

fn question(event: &Value) -> Vec<AgentEvent> {
    let questions: Vec<&str> =
        list(event, "questions").iter().filter_map(|asked| text(asked, "question")).collect();
    vec![AgentEvent::Question { text: words::trouble(&questions.join("\n")) }]
}
