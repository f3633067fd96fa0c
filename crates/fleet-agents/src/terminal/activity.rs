//! What an agent in a terminal is doing, from sources that may contradict each other.

use fleet_core::event::AgentEvent;
use fleet_core::run::AgentState;

use super::screen::Sight;
use crate::common::words;

#[derive(Debug, Default)]
pub(super) struct Activity {
    known: Option<AgentState>,
    text: String,
    /// Whether a hook told what is known.
    is_told: bool,
    /// Whether there are hooks at all.
    has_hooks: bool,
    /// What the screen showed instead when it was last looked at.
    doubt: Option<AgentState>,
}

impl Activity {
    pub(super) const fn known(&self) -> Option<AgentState> {
        self.known
    }

    pub(super) const fn has_hooks(&self) -> bool {
        self.has_hooks
    }

    /// A hook or the record told it.
    pub(super) fn told(&mut self, state: AgentState, text: &str, evidence: &str) -> Option<AgentEvent> {
        self.is_told = true;
        self.has_hooks = true;
        self.doubt = None;
        self.change(state, text, evidence)
    }

    /// The screen shows it. A hook is contradicted only by two looks in a row: between the hook and the drawing of what
    /// it told, the screen shows what was before.
    pub(super) fn seen(&mut self, sight: Option<Sight>) -> Option<AgentEvent> {
        let sight = sight.filter(|sight| !sight.is_weak || !self.has_hooks);
        let before = std::mem::replace(&mut self.doubt, sight.as_ref().map(|sight| sight.state));
        let sight = sight.filter(|sight| Some(sight.state) != self.known)?;
        if self.is_told && before != Some(sight.state) {
            return None;
        }
        self.is_told = false;
        self.change(sight.state, &sight.text, &format!("screen: {}", sight.rule))
    }

    fn change(&mut self, state: AgentState, text: &str, evidence: &str) -> Option<AgentEvent> {
        let text = words::trouble(text);
        if self.known == Some(state) && (self.text == text || text.is_empty()) {
            return None;
        }
        self.known = Some(state);
        self.text.clone_from(&text);
        Some(AgentEvent::State { state, text, evidence: evidence.to_owned() })
    }
}
