//! Codex in a terminal: its hooks tell what it is doing, and its record of the conversation what it said, did and used.
//! A turn that failed is told by the record alone.

use fleet_core::event::AgentEvent;
use fleet_core::run::{AgentState, Meter};
use serde_json::Value;

use super::counters::Counters;
use super::trouble::failure_of;
use crate::common::json::{list, object, text};
use crate::common::recent::Recent;
use crate::common::tool;
use crate::common::words::{self, one_line};
use crate::terminal::{TerminalReader, TerminalSession};

/// How many tools are remembered as running: more do not run at once.
const MAX_RUNNING: usize = 64;

#[derive(Debug)]
pub(super) struct CodexTerminal {
    counters: Counters,
    running: Recent<()>,
    /// The turn that it works on. The record comes later than the hooks, and must not end a turn that began since.
    turn: Option<String>,
}

impl CodexTerminal {
    pub(super) const fn new(before: Meter) -> Self {
        Self { counters: Counters::new(before), running: Recent::new(MAX_RUNNING), turn: None }
    }

    fn event(&mut self, payload: &Value, session: &mut TerminalSession) -> Vec<AgentEvent> {
        match text(payload, "type") {
            Some("token_count") => {
                let usage = payload["info"].get("total_token_usage");
                usage.map(|usage| self.counters.used(usage)).into_iter().collect()
            }
            Some("item_completed") => self.completed(&payload["item"], session),
            Some("task_complete" | "turn_aborted") => self.turn_ended(payload, session),
            _ => Vec::new(),
        }
    }

    fn turn_ended(&self, payload: &Value, session: &mut TerminalSession) -> Vec<AgentEvent> {
        let is_current = self.turn.is_none() || self.turn.as_deref() == text(payload, "turn_id");
        if !is_current {
            return Vec::new();
        }
        match text(&payload["error"], "message") {
            Some(message) => session.turn_failed(failure_of(message), "record: failed turn"),
            None => session
                .turn_ended(text(payload, "last_agent_message"), "record: end of turn")
                .into_iter()
                .collect(),
        }
    }

    fn completed(&mut self, item: &Value, session: &mut TerminalSession) -> Vec<AgentEvent> {
        match text(item, "type") {
            Some("AgentMessage") => {
                let parts = list(item, "content").iter().filter_map(|part| text(part, "text"));
                let said = parts.collect::<Vec<_>>().join("\n");
                session.said(&said);
                vec![AgentEvent::Text { text: words::said(&said) }]
            }
            Some("CommandExecution") => {
                let ok = item["exit_code"] == 0;
                self.ended(item, "id", ok, text(item, "aggregated_output").unwrap_or_default())
            }
            _ => Vec::new(),
        }
    }

    /// What the model wants, and what came of it.
    fn item(&mut self, item: &Value) -> Vec<AgentEvent> {
        match text(item, "type") {
            Some("function_call") => {
                let input = object(text(item, "arguments").unwrap_or_default().as_bytes());
                self.called(item, &input.unwrap_or_default())
            }
            Some("custom_tool_call") => self.called(item, item),
            Some("function_call_output" | "custom_tool_call_output") => {
                self.ended(item, "call_id", true, text(item, "output").unwrap_or_default())
            }
            Some("reasoning") => {
                let parts = list(item, "summary").iter().filter_map(|part| text(part, "text"));
                let thought = parts.collect::<Vec<_>>().join("\n");
                let event =
                    (!thought.is_empty()).then(|| AgentEvent::Reasoning { text: words::said(&thought) });
                event.into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn called(&mut self, item: &Value, input: &Value) -> Vec<AgentEvent> {
        let id = words::id(text(item, "call_id").unwrap_or_default());
        self.running.add(&id, ());
        let name = one_line(text(item, "name").unwrap_or("tool"));
        let summary = tool::summary(input.get("input").unwrap_or(input));
        vec![AgentEvent::ToolCall { id, name, summary, files: tool::files(input) }]
    }

    /// A command is reported when it ends, and once more as what the model is told.
    fn ended(&mut self, item: &Value, key: &str, ok: bool, output: &str) -> Vec<AgentEvent> {
        let id = words::id(text(item, key).unwrap_or_default());
        let is_running = self.running.remove(&id).is_some();
        let summary = words::result(output);
        is_running
            .then_some(AgentEvent::ToolResult { id, ok, summary, files: Vec::new() })
            .into_iter()
            .collect()
    }
}

impl TerminalReader for CodexTerminal {
    fn hook(&mut self, hook: &Value, session: &mut TerminalSession) -> Vec<AgentEvent> {
        let Some(name) = text(hook, "hook_event_name") else { return Vec::new() };
        let started = text(hook, "session_id").and_then(|id| session.started(id));
        self.turn = text(hook, "turn_id").map(words::id).or(self.turn.take());
        let evidence = format!("hook: {}", words::id(name));
        let events = match name {
            "UserPromptSubmit" => session.prompted(text(hook, "prompt").unwrap_or_default(), &evidence),
            "PermissionRequest" => {
                let tool = one_line(text(hook, "tool_name").unwrap_or("tool"));
                let asked = format!("{tool}: {}", tool::summary(&hook["tool_input"]));
                session.state(AgentState::AsksPermission, &asked, &evidence).into_iter().collect()
            }
            "PostToolUse" => session.state(AgentState::Working, "", &evidence).into_iter().collect(),
            "Stop" => {
                let said = text(hook, "last_assistant_message");
                session.turn_ended(said, &evidence).into_iter().collect()
            }
            "Interrupt" => session.state(AgentState::Idle, "", &evidence).into_iter().collect(),
            _ => Vec::new(),
        };
        started.into_iter().chain(events).collect()
    }

    fn record(&mut self, line: &Value, session: &mut TerminalSession) -> Vec<AgentEvent> {
        let payload = &line["payload"];
        match text(line, "type") {
            Some("turn_context") => {
                let model = text(payload, "model").map(|model| AgentEvent::Model { model: words::id(model) });
                model.into_iter().collect()
            }
            Some("event_msg") => self.event(payload, session),
            Some("response_item") => self.item(payload),
            _ => Vec::new(),
        }
    }

    fn meter(&self) -> Option<Meter> {
        self.counters.now()
    }
}
