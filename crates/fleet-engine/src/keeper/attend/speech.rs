//! Speaking with the agent: what its protocol wants, what people have to say, and the end of the conversation.

use std::time::Duration;

use fleet_core::prompt;
use fleet_store::ops;

use super::{Attendance, TIDY};
use crate::clock;

/// An agent that said that it is through has so long to end by itself.
const LINGER: Duration = Duration::from_secs(20);

impl Attendance<'_> {
    /// Whether the agent may be told more while it works.
    pub(super) fn takes_prompts(&self) -> bool {
        self.voice.is_open() && self.stopped.is_none()
    }

    /// Asks the store what people have said.
    pub(super) fn hear(&mut self) {
        let (store, after) = (self.keeper.store.clone(), self.last_prompt);
        let take = ops::TakePrompts { run: self.keeper.run.id, fence: self.keeper.run.fence, after };
        self.hearing = Some(tokio::spawn(async move { store.call(take).await.unwrap_or_default() }));
    }

    /// Passes on what people have said, as far as the agent takes it; the rest is for the next run.
    pub(super) fn pass_on(&mut self, prompts: Vec<prompt::Prompt>) {
        for prompt in prompts {
            if !self.voice.is_open() || !self.journal.prompt(&prompt.text.to_string()) {
                break;
            }
            let words = self.journal.reply();
            self.voice.say(words);
            if !self.voice.is_open() {
                // It has not read what was said before, so it does not have this either.
                break;
            }
            self.last_prompt = prompt.seq;
            self.passed.push(prompt.seq);
        }
    }

    /// Tells the store which prompts the agent has. What only lies in its input, or in a queue, is lost when it ends, and
    /// is then told to the next one.
    pub(super) fn tell_taken(&mut self) {
        let has = self.journal.taken().min(self.passed.len());
        let Some(new) = self.passed.get(self.has..has).filter(|new| !new.is_empty()) else { return };
        let new = new.to_vec();
        self.has = has;
        self.telling.retain(|telling| !telling.is_finished());
        self.telling.push(self.keeper.tell(new));
    }

    /// Says what the decoder has to say. An agent that is through and not asked for more hears that nothing follows.
    pub(super) fn speak(&mut self) {
        let words = self.journal.reply();
        self.voice.say(words);
        self.tell_taken();
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
