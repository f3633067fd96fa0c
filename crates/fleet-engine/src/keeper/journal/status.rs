//! What the events of an agent say about where it stands.

use std::time::Duration;

use fleet_agents::{AgentEvent, AgentFailure, When};
use fleet_core::policy;
use fleet_core::run::{AgentState, Reason, is_session};
use fleet_core::time::Millis;

use crate::clock;

/// Agents wait as long as this by themselves; a longer wait is what the provider asked for.
const AGENT_BACKOFF: Duration = Duration::from_secs(30);

#[derive(Default)]
pub(super) struct JournalStatus {
    pub(super) session: Option<String>,
    /// The store does not have the session yet. It is not an event, and some agents report it long before anything else.
    pub(super) is_session_new: bool,
    pub(super) question: Option<String>,
    /// Why waiting for the agent makes no sense.
    pub(super) hopeless: Option<(Reason, String)>,
    /// Whether the agent has said that it is done, and got no prompt since.
    pub(super) is_over: bool,
    /// Whether anything came from its model, or at least from its provider.
    pub(super) has_begun: bool,
    /// What an agent in a terminal does, and what it asks.
    state: Option<(AgentState, String)>,
    /// Prompts that an agent in a terminal got, and its keeper has not noted yet.
    pub(super) prompted: Vec<String>,
    /// Notices that the agent retries a request, and all other events.
    pub(super) retries: u64,
    pub(super) others: u64,
    /// When the provider lets the account continue, if the agent says so.
    limited_until: Option<Millis>,
    /// When the agent itself would retry what its provider refused.
    retry_at: Option<Millis>,
}

impl JournalStatus {
    pub(super) fn observe(&mut self, event: &AgentEvent, now: Millis) {
        if matches!(event, AgentEvent::Retry { .. }) {
            self.retries += 1;
        } else {
            self.others += 1;
        }
        match event {
            AgentEvent::SessionStarted { session } if is_session(session) => {
                self.is_session_new |= self.session.as_ref() != Some(session);
                self.session = Some(session.clone());
            }
            AgentEvent::State { state, text, .. } => self.state = Some((*state, text.clone())),
            AgentEvent::Prompted { text } => {
                self.has_begun = true;
                self.prompted.push(text.clone());
            }
            AgentEvent::Question { text } => self.question = Some(text.clone()),
            AgentEvent::Error { reason, text } if reason.is_hopeless() => {
                self.hopeless.get_or_insert((*reason, text.clone()));
            }
            AgentEvent::Ended { .. } => self.is_over = true,
            AgentEvent::Text { .. } | AgentEvent::Reasoning { .. } | AgentEvent::ToolCall { .. } => {
                (self.is_over, self.has_begun) = (false, true);
            }
            AgentEvent::Retry { wait_ms, .. } => {
                let wait = wait_ms.map(Duration::from_millis).filter(|wait| *wait > AGENT_BACKOFF);
                self.retry_at = wait.map(|wait| now.plus(wait));
                self.has_begun = true;
            }
            AgentEvent::RateLimit { until: Some(until), .. } => {
                self.limited_until = Some(moment(*until, now));
            }
            AgentEvent::RateLimit { until: None, .. } => self.has_begun = true,
            _ => {}
        }
    }

    pub(super) fn agent_state(&self) -> Option<AgentState> {
        self.state.as_ref().map(|(state, _)| *state)
    }

    /// Whether it only repeats what the agent in a terminal is known to do.
    pub(super) fn is_known(&self, event: &AgentEvent) -> bool {
        let AgentEvent::State { state, text, .. } = event else { return false };
        self.state.as_ref().is_some_and(|(known, asked)| known == state && asked == text)
    }

    /// When the account can be used again after this failure.
    pub(super) fn limited_until(&self, failure: Option<&AgentFailure>, now: Millis) -> Option<Millis> {
        let reported = failure.and_then(|failure| failure.until).map(|until| moment(until, now));
        // An agent that was stopped while it waited knows how long its provider wants to be left alone.
        let is_limit = failure.is_some_and(|failure| policy::blames_account(failure.reason));
        reported.or(self.limited_until).or(self.retry_at.filter(|_| is_limit))
    }
}

/// What was reported about a moment, read now.
pub(super) fn moment(when: When, now: Millis) -> Millis {
    match when {
        When::At(at) => at,
        When::After(span) => now.plus(span),
        // A day that no calendar has is not a moment: then it is worth a try at once.
        When::Local(time) => clock::moment_of(time, now).unwrap_or(now),
    }
}
