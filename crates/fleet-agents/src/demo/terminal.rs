//! The demo agent in a terminal: its hooks.

use fleet_core::event::AgentEvent;
use fleet_core::run::AgentState;
use serde_json::Value;

use crate::common::json::text;
use crate::terminal::{TerminalReader, TerminalSession};

#[derive(Debug)]
pub(super) struct DemoTerminal;

impl TerminalReader for DemoTerminal {
    fn hook(&mut self, hook: &Value, session: &mut TerminalSession) -> Vec<AgentEvent> {
        let words = text(hook, "text").unwrap_or_default();
        let event = match text(hook, "hook") {
            Some("session") => text(hook, "id").and_then(|id| session.started(id)),
            Some("prompt") => return session.prompted(words, "hook: prompt"),
            Some("working") => session.state(AgentState::Working, "", "hook: working"),
            Some("asks") => session.state(AgentState::AsksPermission, words, "hook: asks"),
            Some("idle") => session.turn_ended(text(hook, "text"), "hook: idle"),
            _ => None,
        };
        event.into_iter().collect()
    }
}
