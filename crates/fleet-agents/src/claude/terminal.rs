//! Claude Code in a terminal: its hooks tell what it is doing, and its record of the conversation what it said, did and
//! used.

use fleet_core::event::AgentEvent;
use fleet_core::run::{AgentState, Meter};
use serde_json::Value;

use super::account::Account;
use super::lines::{blocks, result_event, said, short};
use super::trouble;
use crate::adapter::Brief;
use crate::common::json::{list, text};
use crate::common::tool;
use crate::common::words;
use crate::terminal::{TerminalReader, TerminalSession};

#[derive(Debug)]
pub(super) struct ClaudeTerminal {
    account: Account,
    model: Option<String>,
}

impl ClaudeTerminal {
    pub(super) fn new(brief: &Brief<'_>) -> Self {
        Self { account: Account::new(brief.conversation.meter()), model: None }
    }

    /// A message of the model. Failed requests are told by a hook.
    fn assistant(&mut self, line: &Value, session: &mut TerminalSession) -> Vec<AgentEvent> {
        if line["isApiErrorMessage"] == true {
            return Vec::new();
        }
        let message = &line["message"];
        let last = blocks(line).last().filter(|block| block["type"] == "text" && line["isSidechain"] != true);
        if let Some(last) = last.and_then(|block| text(block, "text")) {
            session.said(last);
        }
        let model = text(message, "model").and_then(|model| self.answers(model));
        let counted = self.account.message(message);
        model.into_iter().chain(blocks(line).iter().filter_map(said)).chain(counted).collect()
    }

    fn answers(&mut self, model: &str) -> Option<AgentEvent> {
        let model = words::id(model);
        let is_new = self.model.as_ref() != Some(&model);
        self.model = Some(model.clone());
        is_new.then_some(AgentEvent::Model { model })
    }
}

impl TerminalReader for ClaudeTerminal {
    fn hook(&mut self, hook: &Value, session: &mut TerminalSession) -> Vec<AgentEvent> {
        let Some(name) = text(hook, "hook_event_name") else { return Vec::new() };
        let started = text(hook, "session_id").and_then(|id| session.started(id));
        let events = tells(name, hook, session);
        started.into_iter().chain(events).collect()
    }

    fn record(&mut self, line: &Value, session: &mut TerminalSession) -> Vec<AgentEvent> {
        match text(line, "type").or_else(|| text(&line["message"], "role")) {
            Some("assistant") => self.assistant(line, session),
            Some("user") => {
                let details = &line["toolUseResult"];
                let results = blocks(line).iter().filter(|block| block["type"] == "tool_result");
                results.map(|block| result_event(block, details)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn meter(&self) -> Option<Meter> {
        Some(self.account.meter())
    }
}

/// What a hook says.
fn tells(name: &str, hook: &Value, session: &mut TerminalSession) -> Vec<AgentEvent> {
    let evidence = format!("hook: {}", words::id(name));
    let event = match name {
        "UserPromptSubmit" => return session.prompted(text(hook, "prompt").unwrap_or_default(), &evidence),
        "StopFailure" => {
            let told = text(hook, "last_assistant_message").or_else(|| text(hook, "error_details"));
            let failure = trouble::failed(hook, told.unwrap_or("the request failed"));
            return session.turn_failed(failure, &evidence);
        }
        "Stop" => session.turn_ended(text(hook, "last_assistant_message"), &evidence),
        "PreToolUse" | "PermissionRequest" => asks(hook, session, &evidence),
        // A helper in the background goes on when the turn is over.
        "PostToolUse" | "PostToolUseFailure" if text(hook, "agent_id").is_none() => {
            session.state(AgentState::Working, "", &evidence)
        }
        "ElicitationResult" => session.state(AgentState::Working, "", &evidence),
        "Elicitation" => {
            session.state(AgentState::AsksQuestion, text(hook, "message").unwrap_or_default(), &evidence)
        }
        "Notification" => notified(hook, session),
        "PermissionDenied" => {
            let why = words::trouble(text(hook, "reason").unwrap_or("not allowed"));
            Some(AgentEvent::Denied { tool: short(hook, "tool_name"), text: why })
        }
        _ => None,
    };
    event.into_iter().collect()
}

fn asks(hook: &Value, session: &mut TerminalSession, evidence: &str) -> Option<AgentEvent> {
    let input = &hook["tool_input"];
    match text(hook, "tool_name")? {
        "AskUserQuestion" => {
            let questions: Vec<&str> =
                list(input, "questions").iter().filter_map(|asked| text(asked, "question")).collect();
            session.state(AgentState::AsksQuestion, &questions.join("\n"), evidence)
        }
        "ExitPlanMode" => session.state(AgentState::AsksPermission, "start to work on its plan", evidence),
        tool => {
            let asked = format!("{}: {}", short(hook, "tool_name"), tool::summary(input));
            let asked = if tool.is_empty() { String::new() } else { asked };
            session.state(AgentState::AsksPermission, &asked, evidence)
        }
    }
}

fn notified(hook: &Value, session: &mut TerminalSession) -> Option<AgentEvent> {
    let kind = text(hook, "notification_type")?;
    let state = match kind {
        "permission_prompt" | "worker_permission_prompt" => AgentState::AsksPermission,
        "elicitation_dialog" => AgentState::AsksQuestion,
        "idle_prompt" => AgentState::Idle,
        _ => return None,
    };
    session.state(state, "", &format!("hook: Notification {kind}"))
}
