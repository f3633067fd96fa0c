//! opencode in a terminal: our plugin, `plugin.js`, passes on its events.

use fleet_core::event::AgentEvent;
use fleet_core::run::AgentState;
use serde_json::Value;

use super::decoder::{OpencodeDecoder, failure};
use crate::adapter::Brief;
use crate::common::json::{list, number, text};
use crate::common::recent::Recent;
use crate::common::words::{self, one_line};
use crate::terminal::{TerminalReader, TerminalSession};

/// How many parts of messages are remembered in order to report each once.
const MAX_PARTS: usize = 256;

/// More events do not come in one call.
const MAX_EVENTS: usize = 1000;

#[derive(Debug)]
pub(super) struct OpencodeTerminal {
    /// What parts of messages mean.
    parts: OpencodeDecoder,
    reported: Recent<()>,
    /// The conversation of the person. Helpers that opencode calls by itself have their own.
    main: Option<String>,
}

impl OpencodeTerminal {
    pub(super) fn new(brief: &Brief<'_>) -> Self {
        let main = brief.conversation.resumed().map(words::id);
        Self { parts: OpencodeDecoder::default(), reported: Recent::new(MAX_PARTS), main }
    }

    fn event(&mut self, event: &Value, session: &mut TerminalSession) -> Vec<AgentEvent> {
        let Some(kind) = text(event, "type") else { return Vec::new() };
        let properties = &event["properties"];
        let evidence = format!("hook: {}", words::id(kind));
        let is_main = self.main.is_some() && self.main.as_deref() == text(properties, "sessionID");
        let event = match kind {
            "session.created" if text(&properties["info"], "parentID").is_none() => {
                return self.started(text(&properties["info"], "id"), session).into_iter().collect();
            }
            "prompt" => return self.prompt(properties, session),
            "message.part.updated" => return self.part(&properties["part"], is_main, session),
            "session.error" if is_main => return failed(&properties["error"], session),
            "session.status" if is_main => return status(&properties["status"], session, &evidence),
            "permission.asked" => session.state(AgentState::AsksPermission, &wanted(properties), &evidence),
            "question.asked" => {
                let asked = list(properties, "questions").iter().filter_map(|asked| text(asked, "question"));
                let asked = asked.collect::<Vec<_>>().join("\n");
                session.state(AgentState::AsksQuestion, &asked, &evidence)
            }
            "permission.replied" | "question.replied" | "question.rejected" => {
                session.state(AgentState::Working, "", &evidence)
            }
            _ => None,
        };
        event.into_iter().collect()
    }

    fn started(&mut self, id: Option<&str>, session: &mut TerminalSession) -> Option<AgentEvent> {
        let id = id?;
        self.main = Some(words::id(id));
        session.started(id)
    }

    /// Helpers get prompts, too, from opencode.
    fn prompt(&mut self, properties: &Value, session: &mut TerminalSession) -> Vec<AgentEvent> {
        let id = text(properties, "sessionID");
        if self.main.is_some() && id != self.main.as_deref() {
            return Vec::new();
        }
        let started = self.started(id, session);
        // It puts a blank behind a long text that is pasted.
        let prompt = text(properties, "text").unwrap_or_default().trim_end();
        started.into_iter().chain(session.prompted(prompt, "hook: prompt")).collect()
    }

    /// A part of a message that is whole. What helpers use is paid for, too.
    fn part(&mut self, part: &Value, is_main: bool, session: &mut TerminalSession) -> Vec<AgentEvent> {
        let Some(id) = text(part, "id").filter(|id| !self.reported.contains(id)) else { return Vec::new() };
        self.reported.add(id, ());
        match text(part, "type") {
            Some("tool") => self.parts.tool(part),
            Some("step-finish") => self.parts.finished(part),
            Some("text") if is_main => {
                let Some(said) = text(part, "text") else { return Vec::new() };
                session.said(said);
                vec![AgentEvent::Text { text: words::said(said) }]
            }
            Some("reasoning") if is_main => {
                let thought = text(part, "text");
                thought.map(|text| AgentEvent::Reasoning { text: words::said(text) }).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }
}

fn status(status: &Value, session: &mut TerminalSession, evidence: &str) -> Vec<AgentEvent> {
    match text(status, "type") {
        Some("busy") => session.state(AgentState::Working, "", evidence).into_iter().collect(),
        Some("idle") => session.state(AgentState::Idle, "", evidence).into_iter().collect(),
        Some("retry") => {
            let attempt = number(status, "attempt").and_then(|n| u32::try_from(n).ok());
            let text = words::trouble(text(status, "message").unwrap_or_default());
            vec![AgentEvent::Retry { attempt, wait_ms: None, text }]
        }
        _ => Vec::new(),
    }
}

/// A person who interrupts it is not a failure.
fn failed(error: &Value, session: &mut TerminalSession) -> Vec<AgentEvent> {
    match text(error, "name") {
        None | Some("MessageAbortedError") => Vec::new(),
        Some(_) => session.failed(failure(error)),
    }
}

/// What it wants to do.
fn wanted(properties: &Value) -> String {
    let kind = text(properties, "permission").unwrap_or_default();
    let details = &properties["metadata"];
    let what = text(details, "command").or_else(|| text(details, "filepath"));
    let what = what.or_else(|| list(properties, "patterns").first().and_then(Value::as_str));
    one_line(&format!("{kind}: {}", what.unwrap_or_default()))
}

impl TerminalReader for OpencodeTerminal {
    fn hook(&mut self, hook: &Value, session: &mut TerminalSession) -> Vec<AgentEvent> {
        let events = list(hook, "events").iter().take(MAX_EVENTS);
        events.flat_map(|event| self.event(event, session)).collect()
    }
}
