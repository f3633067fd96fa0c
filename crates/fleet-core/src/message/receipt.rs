//! How far a message came: its receipts, and the one function that moves them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::time::Millis;
use crate::transition::{IllegalTransition, Machine as _, UnknownName, arrows, named};

named! {
    pub enum MessageState: "state of a message" {
        /// Stored, and not given to an agent yet.
        Waiting = "waiting",
        /// It was given to an agent that has not shown yet that it has it.
        Delivered = "delivered",
        /// The agent has shown that it has it.
        Seen = "seen",
    }
}

named! {
    pub enum MessageMove: "move of a message" {
        /// A run takes it, to deliver it.
        Take = "take",
        Deliver = "deliver",
        See = "see",
    }
}

/// What a run says about a message that it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Receipt {
    Delivered,
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

arrows! {
    MessageState by MessageMove, first Waiting;
    // The agent that got it before has not shown that it has it: it is delivered once more.
    Waiting | Delivered, Take => Waiting;
    Waiting | Delivered, Deliver => Delivered;
    // An agent that shows that it has it got it, even if the delivery was not recorded in time; the record may still
    // come, late or twice.
    Waiting | Delivered | Seen, See => Seen;
    Seen, Deliver => Seen;
}

/// When a message was stored, delivered and seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipts {
    pub stored: Millis,
    /// When the agent of the run that took it last was given it.
    pub delivered: Option<Millis>,
    pub seen: Option<Millis>,
}

impl Receipts {
    pub const fn new(now: Millis) -> Self {
        Self { stored: now, delivered: None, seen: None }
    }

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
