//! The kinds of messages, and how each is delivered. A new kind is a new row here, and nowhere else but where it is
//! sent.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::transition::{UnknownName, named};

named! {
    pub enum MessageKind: "kind of message" {
        /// A message to an agent: delivered at once, if the agent accepts input.
        Prompt = "prompt",
        /// A message to the next run: a running agent is not interrupted.
        FollowUp = "follow_up",
        /// A question of an agent to a person: no agent gets it.
        Question = "question",
        /// The answer to a question. An agent that waits for it gets it where it asked; otherwise the next run does.
        Answer = "answer",
    }
}

/// The ways to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Channel {
    /// The text that starts it, in a new conversation or in one that goes on.
    Start,
    /// Its structured input, while it works.
    Input,
}

/// How a kind of message is delivered.
struct KindRules {
    /// Whether agents get it at all.
    is_for_agents: bool,
    /// Whether a running agent gets it; otherwise the next run does.
    interrupts: bool,
    /// What comes before its text where it is a part of a longer one.
    introduction: &'static str,
}

const ADDED: &str = "Added by the person who gave you this task";

impl MessageKind {
    const fn rules(self) -> KindRules {
        match self {
            Self::Prompt => KindRules { is_for_agents: true, interrupts: true, introduction: ADDED },
            Self::FollowUp => KindRules { is_for_agents: true, interrupts: false, introduction: ADDED },
            Self::Question => KindRules { is_for_agents: false, interrupts: false, introduction: "" },
            Self::Answer => KindRules { is_for_agents: true, interrupts: false, introduction: "" },
        }
    }

    pub const fn reaches(self, channel: Channel) -> bool {
        match channel {
            Channel::Start => self.rules().is_for_agents,
            Channel::Input => self.rules().interrupts,
        }
    }

    /// What comes before its text where it is a part of a longer one.
    pub(super) const fn introduction(self) -> &'static str {
        self.rules().introduction
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Addressee, Reception, receive};
    use super::*;
    use crate::task::TaskState;

    #[test]
    fn a_follow_up_does_not_interrupt() {
        for state in TaskState::ALL {
            let goes = |kind| receive(kind, Addressee { state: *state, stop: None, waiting: 0 });
            let expected = match goes(MessageKind::Prompt) {
                Ok(Reception::Live) => Ok(Reception::Kept),
                other => other,
            };
            assert_eq!(goes(MessageKind::FollowUp), expected, "{state}");
        }
    }
}
