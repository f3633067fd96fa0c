//! Gemini CLI in a terminal: its hooks tell what it is doing, where it has them, and its record of the conversation what
//! it said, did and used.

use fleet_core::event::AgentEvent;
use fleet_core::run::AgentState;
use serde_json::Value;

use super::record::Messages;
use super::trouble::failure_of;
use crate::common::json::{list, text};
use crate::common::recent::Recent;
use crate::common::tool;
use crate::common::words::{self, one_line};
use crate::terminal::{TerminalReader, TerminalSession};

/// What a hook gets in place of an answer.
const NO_ANSWER: &str = "[no response text]";

/// A message is written again when more of it is known, before the one after the next begins.
const MAX_MESSAGES: usize = 64;

#[derive(Debug)]
pub(super) struct GeminiTerminal {
    messages: Messages,
    /// The messages, and the calls of tools, that were reported.
    reported: Recent<()>,
}

impl Default for GeminiTerminal {
    fn default() -> Self {
        Self { messages: Messages::default(), reported: Recent::new(MAX_MESSAGES) }
    }
}

impl GeminiTerminal {
    fn is_new(&mut self, id: &str) -> bool {
        let is_new = !self.reported.contains(id);
        if is_new {
            self.reported.add(id, ());
        }
        is_new
    }

    fn answer(&mut self, message: &Value, session: &mut TerminalSession) -> Vec<AgentEvent> {
        let mut events = self.messages.read(message);
        let said = text(message, "content").filter(|said| !said.trim().is_empty());
        if let Some(said) = said.filter(|_| text(message, "id").is_some_and(|id| self.is_new(id))) {
            session.said(said);
            events.push(AgentEvent::Text { text: words::said(said.trim_end()) });
        }
        for call in list(message, "toolCalls") {
            if text(call, "id").is_some_and(|id| self.is_new(id)) {
                events.extend(called(call));
            }
        }
        events
    }

    /// What the user said. Without hooks, only this tells that a prompt arrived.
    fn prompt(&mut self, message: &Value, session: &mut TerminalSession) -> Vec<AgentEvent> {
        let parts = list(message, "content").iter().filter_map(|part| text(part, "text"));
        let prompt = parts.collect::<Vec<_>>().join("\n");
        let is_new = text(message, "id").is_some_and(|id| self.is_new(id));
        let is_told = session.has_hooks() || prompt.is_empty() || !is_new;
        (!is_told).then_some(AgentEvent::Prompted { text: prompt }).into_iter().collect()
    }
}

/// A call of a tool, which is written down when it has ended.
fn called(call: &Value) -> [AgentEvent; 2] {
    let id = words::id(text(call, "id").unwrap_or_default());
    let name = one_line(text(call, "name").unwrap_or("tool"));
    let input = &call["args"];
    let files = tool::files(input);
    let response = &call["result"][0]["functionResponse"]["response"];
    let output = text(response, "output").or_else(|| text(response, "error")).unwrap_or_default();
    let ok = text(call, "status").is_none_or(|status| status == "success");
    let result =
        AgentEvent::ToolResult { id: id.clone(), ok, summary: words::result(output), files: files.clone() };
    [AgentEvent::ToolCall { id, name, summary: tool::summary(input), files }, result]
}

impl TerminalReader for GeminiTerminal {
    fn hook(&mut self, hook: &Value, session: &mut TerminalSession) -> Vec<AgentEvent> {
        let Some(name) = text(hook, "hook_event_name") else { return Vec::new() };
        let started = text(hook, "session_id").and_then(|id| session.started(id));
        let evidence = format!("hook: {}", words::id(name));
        let events = match name {
            "BeforeAgent" => session.prompted(text(hook, "prompt").unwrap_or_default(), &evidence),
            "AfterAgent" => match text(hook, "prompt_response").filter(|said| *said != NO_ANSWER) {
                Some(said) => session.turn_ended(Some(said), &evidence).into_iter().collect(),
                // The record tells why.
                None => session.state(AgentState::Idle, "", &evidence).into_iter().collect(),
            },
            "AfterTool" => session.state(AgentState::Working, "", &evidence).into_iter().collect(),
            "Notification" => asks(hook, session, &evidence).into_iter().collect(),
            _ => Vec::new(),
        };
        started.into_iter().chain(events).collect()
    }

    fn record(&mut self, line: &Value, session: &mut TerminalSession) -> Vec<AgentEvent> {
        match text(line, "type") {
            Some("gemini") => self.answer(line, session),
            Some("user") => self.prompt(line, session),
            Some("error") => {
                text(line, "content").map(|why| session.failed(failure_of(why))).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }
}

fn asks(hook: &Value, session: &mut TerminalSession, evidence: &str) -> Option<AgentEvent> {
    if text(hook, "notification_type") != Some("ToolPermission") {
        return None;
    }
    let details = &hook["details"];
    let title = text(details, "title").or_else(|| text(hook, "message")).unwrap_or_default();
    let what = text(details, "command").map(|command| format!("{title}: {command}"));
    let state = match text(details, "type") {
        Some("ask_user") => AgentState::AsksQuestion,
        _ => AgentState::AsksPermission,
    };
    session.state(state, &one_line(&what.unwrap_or_else(|| title.to_owned())), evidence)
}
