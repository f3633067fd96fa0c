//! What an agent in a terminal is doing, as far as there is evidence.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::{AgentEvent, Fact};
use crate::time::Millis;
use crate::transition::{UnknownName, named};

named! {
    pub enum AgentState: "state of an agent" {
        /// It works on a prompt.
        Working = "working",
        /// It waits for the next prompt.
        Idle = "idle",
        /// It shows a dialog that asks whether it may do something.
        AsksPermission = "asks_permission",
        /// It shows a dialog with a question to a person.
        AsksQuestion = "asks_question",
    }
}

impl AgentState {
    /// Whether a prompt can be typed: a dialog would take it for its answer.
    pub const fn takes_prompts(self) -> bool {
        matches!(self, Self::Idle)
    }

    /// As lists show it.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Idle => "idle",
            Self::AsksPermission => "needs permission",
            Self::AsksQuestion => "asks",
        }
    }

    /// Whether it does not continue without a person.
    pub const fn needs_person(self) -> bool {
        matches!(self, Self::AsksPermission | Self::AsksQuestion)
    }
}

/// What the agent of a run is doing now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentStateNow {
    /// Its state.
    pub state: AgentState,
    /// When it got into this state.
    pub since: Millis,
    /// What it asks, if it asks something.
    pub text: String,
    /// How that is known.
    pub evidence: String,
}

impl AgentStateNow {
    /// The last state that these facts tell of.
    pub fn last(facts: &[(Millis, Fact)]) -> Option<Self> {
        let states = facts.iter().filter_map(|(at, fact)| match fact {
            Fact::Agent(AgentEvent::State { state, text, evidence }) => {
                Some(Self { state: *state, since: *at, text: text.clone(), evidence: evidence.clone() })
            }
            _ => None,
        });
        states.reduce(
            |before, now| if now.continues(&before) { Self { since: before.since, ..now } } else { now },
        )
    }

    /// Whether nothing changed but the evidence. Another question is another state.
    pub fn continues(&self, before: &Self) -> bool {
        self.state == before.state && self.text == before.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_state_counts_from_when_it_began() {
        let told = |at, state, text: &str, evidence: &str| {
            let (text, evidence) = (text.to_owned(), evidence.to_owned());
            (Millis(at), Fact::Agent(AgentEvent::State { state, text, evidence }))
        };
        let other = (Millis(9), Fact::RunNote { text: "hello".to_owned() });
        assert_eq!(AgentStateNow::last(std::slice::from_ref(&other)), None);
        let asks = AgentState::AsksPermission;
        let facts = [
            told(1, AgentState::Working, "", "hook"),
            told(2, asks, "rm a", "hook"),
            told(3, asks, "rm b", "hook"),
            told(4, asks, "rm b", "screen"),
            other,
        ];
        let last = AgentStateNow::last(&facts).unwrap();
        assert_eq!((last.since, last.text.as_str(), last.evidence.as_str()), (Millis(3), "rm b", "screen"));
    }
}
