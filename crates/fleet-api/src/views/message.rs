//! How messages to agents are shown.

use fleet_core::message::{Message, MessageKind, MessageState};
use fleet_core::text::shortened;
use fleet_core::time::Millis;

use crate::prelude::*;

/// Something that was said to the agent of a task.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct MessageView {
    pub id: String,
    pub number: i64,
    pub kind: MessageKind,
    /// Its beginning, if it is long.
    pub text: String,
    pub by: String,
    pub at: Moment,
    pub expires_at: Option<Moment>,
    /// How far it came, in one word.
    pub state: String,
    /// The run that was given it last.
    pub run: Option<RunId>,
    pub delivered_at: Option<Moment>,
    pub seen_at: Option<Moment>,
    /// The same as `seen_at`, by its older name.
    pub sent_at: Option<Moment>,
}

/// A message may be as large as a description: a list shows only enough to tell them apart.
const LONGEST_TEXT: usize = 2_000;

impl MessageView {
    /// Its state now.
    pub fn new(message: &Message, now: Millis) -> Self {
        let receipts = message.receipts;
        let state = match (message.kind, receipts.state()) {
            (MessageKind::Question, MessageState::Seen) => "answered",
            (MessageKind::Question, _) if message.is_expired(now) => "withdrawn",
            (MessageKind::Question, _) => "open",
            _ if message.is_expired(now) => "expired",
            (_, state) => state.as_str(),
        };
        let state = state.to_owned();
        Self {
            id: message.id.to_string(),
            number: message.id.seq,
            kind: message.kind,
            text: shortened(message.text.as_str(), LONGEST_TEXT).into_owned(),
            by: message.from.clone(),
            at: Moment(receipts.stored),
            expires_at: message.expires_at.map(Moment),
            state,
            run: message.taken_by,
            delivered_at: receipts.delivered.map(Moment),
            seen_at: receipts.seen.map(Moment),
            sent_at: receipts.seen.map(Moment),
        }
    }
}

#[cfg(test)]
mod tests {
    use fleet_core::id::IdMaker;
    use fleet_core::message::{MessageId, Receipts};

    use super::*;

    #[test]
    fn a_message_says_how_far_it_came() {
        let task = IdMaker::default().next(Millis(1_800_000_000_000), 1);
        let at = |delivered: Option<i64>, seen: Option<i64>| {
            let receipts =
                Receipts { stored: Millis(1), delivered: delivered.map(Millis), seen: seen.map(Millis) };
            let message = Message {
                id: MessageId { task, seq: 3 },
                kind: MessageKind::Prompt,
                text: "more".parse().unwrap(),
                from: "ada".to_owned(),
                expires_at: Some(Millis(9)),
                taken_by: None,
                receipts,
            };
            [5, 9].map(|now| MessageView::new(&message, Millis(now)).state)
        };
        assert_eq!(at(None, None), ["waiting", "expired"]);
        assert_eq!(at(Some(2), None), ["delivered", "expired"]);
        assert_eq!(at(Some(2), Some(3)), ["seen", "seen"], "what an agent has stays so");
    }
}
