//! The interface of an agent that nothing is known about: it works while its screen changes.

use fleet_core::event::{AgentEvent, Stream};
use fleet_core::outcome::AgentExit;
use fleet_core::run::{AgentState, Reason};

use crate::adapter::{AgentFailure, Decoder};
use crate::common::words::one_line;

/// How often the screen has to look the same as before until the agent counts as idle: it is looked at about once a
/// second.
const STILL_LOOKS: u32 = 2;

#[derive(Debug, Default)]
pub(super) struct StillScreen {
    lines: Vec<String>,
    /// How often in a row the screen looked the same.
    same: u32,
    state: Option<AgentState>,
    failure: Option<AgentFailure>,
}

impl StillScreen {
    fn is(&mut self, state: AgentState, evidence: &str) -> Vec<AgentEvent> {
        if self.state == Some(state) {
            return Vec::new();
        }
        self.state = Some(state);
        vec![AgentEvent::State { state, text: String::new(), evidence: evidence.to_owned() }]
    }
}

impl Decoder for StillScreen {
    fn line(&mut self, _: Stream, _: &[u8], _: bool) -> Vec<AgentEvent> {
        Vec::new()
    }

    fn screen(&mut self, lines: &[String]) -> Vec<AgentEvent> {
        if lines.iter().all(|line| line.trim().is_empty()) {
            return Vec::new();
        }
        if self.lines != lines {
            let is_first = self.lines.is_empty();
            self.lines = lines.to_vec();
            self.same = 0;
            return if is_first { Vec::new() } else { self.is(AgentState::Working, "screen: it changes") };
        }
        self.same = self.same.saturating_add(1);
        if self.same < STILL_LOOKS {
            Vec::new()
        } else {
            self.is(AgentState::Idle, "screen: it stands still")
        }
    }

    fn end(&mut self, exit: &AgentExit) -> Vec<AgentEvent> {
        if !exit.is_success() && !matches!(exit, AgentExit::NotStarted(_)) {
            let last = self.lines.iter().rev().map(|line| one_line(line)).find(|line| !line.is_empty());
            let text = format!("{exit}; its screen ended with: {}", last.unwrap_or_default());
            self.failure = Some(AgentFailure::new(Reason::AgentError, text));
        }
        Vec::new()
    }

    fn final_text(&self) -> Option<&str> {
        None
    }

    fn failure(&self) -> Option<AgentFailure> {
        self.failure.clone()
    }
}
