//! How far a message came: its receipts, and the one function that moves them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::time::Millis;
use crate::transition::{IllegalTransition, UnknownName, named};

named! {
    /// How far a message came.
    pub enum MessageState: "state of a message" {
        /// It is kept, and no agent was given it.
        Waiting = "waiting",
        /// It was given to an agent that has not shown yet that it has it.
        Delivered = "delivered",
        /// The agent has shown that it has it.
        Seen = "seen",
    }
}

named! {
    /// What can happen to a message.
    pub enum MessageMove: "move of a message" {
        /// A run takes it, to deliver it.
        Take = "take",
        /// It was given to the agent.
        Deliver = "deliver",
        /// The agent showed that it has it.
        See = "see",
    }
}

/// What a run says about a message that it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receipt {
    /// It was given to the agent.
    Delivered,
    /// The agent showed that it has it.
    Seen,
}

impl From<Receipt> for MessageMove {
    fn from(receipt: Receipt) -> Self {
        match receipt {
            Receipt::Delivered => Self::Deliver,
            Receipt::Seen => Self::See,
        }
    }
}

impl MessageState {
    /// The state after `event`, or why there is none.
    pub fn next(self, event: MessageMove) -> Result<Self, IllegalTransition<Self, MessageMove>> {
        use MessageMove as M;
        use MessageState as S;
        let to = match (self, event) {
            // Whoever was given it before has not shown that it has it: it is delivered once more.
            (S::Waiting | S::Delivered, M::Take) => S::Waiting,
            (S::Waiting | S::Delivered, M::Deliver) => S::Delivered,
            // An agent that shows it was given it, even if nobody could say so in time; that may still come, late or twice.
            (S::Waiting | S::Delivered | S::Seen, M::See) | (S::Seen, M::Deliver) => S::Seen,
            (S::Seen, M::Take) => return Err(IllegalTransition { from: self, event }),
        };
        Ok(to)
    }
}

/// When a message was kept, delivered and seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipts {
    /// When it was kept.
    pub stored: Millis,
    /// When the agent of the run that took it last was given it.
    pub delivered: Option<Millis>,
    /// When that agent showed that it has it.
    pub seen: Option<Millis>,
}

impl Receipts {
    /// Of a message that was kept now.
    pub const fn new(now: Millis) -> Self {
        Self { stored: now, delivered: None, seen: None }
    }

    /// How far it came.
    pub const fn state(self) -> MessageState {
        match (self.delivered, self.seen) {
            (_, Some(_)) => MessageState::Seen,
            (Some(_), None) => MessageState::Delivered,
            (None, None) => MessageState::Waiting,
        }
    }

    /// The receipts after `event`. One that is there stays as it is.
    pub fn after(
        self,
        event: MessageMove,
        now: Millis,
    ) -> Result<Self, IllegalTransition<MessageState, MessageMove>> {
        let first = |receipt: Option<Millis>| receipt.or(Some(now));
        Ok(match self.state().next(event)? {
            MessageState::Waiting => Self { delivered: None, ..self },
            MessageState::Delivered => Self { delivered: first(self.delivered), ..self },
            MessageState::Seen => Self { delivered: first(self.delivered), seen: first(self.seen), ..self },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receipts_stay_and_are_complete() {
        let at = |event, receipts: Receipts, now| receipts.after(event, Millis(now)).unwrap();
        let kept = Receipts::new(Millis(1));
        let delivered = at(MessageMove::Deliver, kept, 2);
        assert_eq!((delivered.delivered, delivered.seen), (Some(Millis(2)), None));
        assert_eq!(at(MessageMove::Deliver, delivered, 3), delivered, "told twice");
        let seen = at(MessageMove::See, delivered, 4);
        assert_eq!((seen.delivered, seen.seen), (Some(Millis(2)), Some(Millis(4))));
        assert_eq!(at(MessageMove::See, kept, 5).delivered, Some(Millis(5)), "never seen before delivered");
        assert_eq!(at(MessageMove::Deliver, seen, 6), seen, "late");
        assert_eq!(at(MessageMove::Take, delivered, 7), kept, "the next run delivers it again");
        assert!(seen.after(MessageMove::Take, Millis(8)).is_err());
    }
}
