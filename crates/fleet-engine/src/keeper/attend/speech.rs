//! Speaking with the agent: what its protocol wants, what others have to say, and the end of the conversation.

use std::time::Duration;

use fleet_core::message::Message;

use super::{Attendance, TIDY};
use crate::clock;

/// An agent that said that it is through has so long to end by itself.
const LINGER: Duration = Duration::from_secs(20);

impl Attendance<'_> {
    /// Whether the agent may be told more now.
    pub(super) fn takes_messages(&self) -> bool {
        self.voice.is_open() && self.stopped.is_none() && !self.mailbox.is_taking()
    }

    /// Gives the agent what others have to say, as far as it takes it; the rest is for the next run.
    pub(super) fn give(&mut self, messages: Vec<Message>) {
        let mut given = Vec::new();
        for message in messages {
            if !self.voice.is_open() || !self.journal.prompt(message.text.as_str()) {
                break;
            }
            let words = self.journal.reply();
            self.voice.say(words);
            if !self.voice.is_open() {
                // It has not read what was said before, so it does not have this either.
                break;
            }
            given.push(message.id.seq);
        }
        self.mailbox.gave(given);
    }

    /// Leaves receipts for what the agent has shown to have. What is only in its input, or in a queue, is lost when it
    /// ends, and is then told to the next one.
    pub(super) fn note_seen(&mut self) {
        if self.journal.has_begun() {
            self.mailbox.start_was_seen();
        }
        self.mailbox.input_was_seen(self.journal.taken());
    }

    /// Says what the decoder has to say. An agent that is through and not asked for more hears that nothing follows.
    pub(super) fn speak(&mut self) {
        let words = self.journal.reply();
        self.voice.say(words);
        self.note_seen();
        if self.journal.is_over() {
            self.voice.close();
            self.over_since.get_or_insert_with(clock::uptime);
        } else {
            self.over_since = None;
        }
    }

    /// How long an agent that said that it is through may still take to end; then it is made to.
    pub(super) fn lingers(&mut self, now: Duration) -> Option<Duration> {
        if self.was_over {
            return Some(TIDY);
        }
        let left = (self.over_since? + LINGER).saturating_sub(now);
        if left.is_zero() {
            self.hurry();
            return Some(TIDY);
        }
        Some(left)
    }

    /// Makes an agent end that said that it is through. What it did counts as if it had ended by itself.
    pub(super) fn hurry(&mut self) {
        if self.was_over {
            return;
        }
        let (tree, ladder) = (self.tree.clone(), self.keeper.ladder());
        self.stopping = Some(tokio::spawn(async move {
            let _ = tokio::task::spawn_blocking(move || drop(tree.stop(&ladder, &mut || {}))).await;
        }));
        self.was_over = true;
    }
}
