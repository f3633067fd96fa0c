//! Typing prompts into an agent's terminal: when, in which steps, and how it is known that the agent has them.
//!
//! Owns every decision about that. A prompt is typed once, whole, into an agent that waits for one: never into a dialog,
//! never into what a person is typing. Must never do any of it: the owner of a [`Typist`] feeds it what happens and
//! carries out each [`TypingEffect`].
//!
//! Time is how long the machine was awake, as in [`crate::supervision`].

mod draft;
mod form;
mod paste;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub use draft::Draft;
pub use form::{PromptForm, pasted};
pub use paste::PasteMarks;

use crate::run::AgentState;

/// The screen has taken in what was pasted when it has not changed for this long.
const STILL_TIME: Duration = Duration::from_millis(150);
/// An agent that a person has sent something shows within this time that it acts on it.
const REACTION_TIME: Duration = Duration::from_secs(2);
/// A screen that never stands still is not waited for longer than this.
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// An agent that has taken a prompt shows it within this time; otherwise Enter is pressed again. An empty input ignores
/// that.
const CONFIRM_TIME: Duration = Duration::from_secs(3);
/// How often Enter is pressed at most.
const MAX_PRESSES: u32 = 3;
/// How often a prompt is pasted at most: an agent that is still starting may drop it.
const MAX_PASTES: u32 = 3;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypingInput<'a> {
    /// It is time, see [`Typist::wake_at`].
    Wake,
    /// The agent's state became known, or changed.
    State(AgentState),
    ScreenChanged,
    /// What a person has typed so far.
    Draft(Draft),
    /// Whether the agent shows an input without text. Only some agents can be asked.
    EmptyInput(bool),
    /// The agent told that it got a prompt.
    Prompted(&'a str),
}

/// What to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypingEffect {
    /// Put the prompt into the agent's input.
    Paste,
    PressEnter,
    /// The agent has the prompt.
    Seen,
    /// It was typed, and nothing shows that the agent has it.
    Unconfirmed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Phase {
    /// Waits for an agent that takes a prompt.
    Waiting,
    Pasted {
        at: Duration,
        pastes: u32,
    },
    Entered {
        at: Duration,
        presses: u32,
    },
}

/// Types one prompt at a time.
#[derive(Debug)]
pub struct Typist {
    current: Option<(String, Phase)>,
    agent: Option<AgentState>,
    draft: Draft,
    /// When the agent last got something, from a person or from here: what is known of it may be older than that.
    sent_at: Option<Duration>,
    changed_at: Duration,
    shows_empty_input: bool,
    /// Whether the agent tells of the prompts that it gets.
    confirms: bool,
}

impl Typist {
    pub const fn new(now: Duration) -> Self {
        Self {
            current: None,
            agent: None,
            draft: Draft::new(),
            sent_at: None,
            changed_at: now,
            shows_empty_input: false,
            confirms: false,
        }
    }

    /// Whether it can be given the next prompt.
    pub const fn is_free(&self) -> bool {
        self.current.is_none()
    }

    /// Whether keys of people have to wait, because they would come between a prompt and its end. Not for long: a dialog that
    /// came in between needs them.
    pub fn holds_keys(&self, now: Duration) -> bool {
        let is_pasted =
            matches!(&self.current, Some((_, Phase::Pasted { at, .. })) if now < *at + LONGEST_WAIT);
        is_pasted && self.takes_prompts()
    }

    /// Whether the prompt that it has was pasted, and not sent.
    pub const fn has_pasted(&self) -> bool {
        matches!(&self.current, Some((_, Phase::Pasted { .. })))
    }

    /// Whether the prompt that it has was sent, and is not confirmed yet.
    pub const fn has_entered(&self) -> bool {
        matches!(&self.current, Some((_, Phase::Entered { .. })))
    }

    /// Gives up the prompt that it has: it could not be typed.
    pub fn give_up(&mut self) {
        self.current = None;
    }

    fn takes_prompts(&self) -> bool {
        self.agent.is_some_and(AgentState::takes_prompts)
    }

    /// Begins with the next prompt.
    #[must_use]
    pub fn begin(&mut self, text: String, now: Duration) -> Vec<TypingEffect> {
        self.current.get_or_insert((text, Phase::Waiting));
        self.on(TypingInput::Wake, now)
    }

    /// From now on the agent is known to tell of prompts, or not to.
    pub const fn set_confirms(&mut self, confirms: bool) {
        self.confirms = confirms;
    }

    /// Takes note of something without deciding anything, because more is about to be told.
    pub fn observe(&mut self, input: TypingInput<'_>, now: Duration) {
        self.note(input, now);
    }

    /// Takes what happened, and decides.
    #[must_use]
    pub fn on(&mut self, input: TypingInput<'_>, now: Duration) -> Vec<TypingEffect> {
        let is_taken = self.note(input, now);
        let Some((text, phase)) = self.current.take() else { return Vec::new() };
        let (phase, effect) = match phase {
            Phase::Entered { .. } if is_taken || is_shown(input, &text) => {
                // One that tells no more may still look idle for a moment.
                self.sent_at = (!is_taken).then_some(now);
                (None, Some(TypingEffect::Seen))
            }
            phase => self.step(phase, now),
        };
        self.current = phase.map(|phase| (text, phase));
        effect.into_iter().collect()
    }

    /// When to feed [`TypingInput::Wake`], unless something happens before.
    pub fn wake_at(&self) -> Option<Duration> {
        match &self.current.as_ref()?.1 {
            // Otherwise time alone changes nothing.
            Phase::Waiting if self.takes_prompts() && !self.draft.has_text() => {
                self.sent_at.map(|at| at + REACTION_TIME)
            }
            Phase::Waiting => None,
            Phase::Pasted { at, .. } => self.takes_prompts().then(|| self.settled_at(*at)),
            Phase::Entered { at, .. } => Some(*at + CONFIRM_TIME),
        }
    }

    /// Takes note. Whether the agent began to act, which it does only on a prompt.
    fn note(&mut self, input: TypingInput<'_>, now: Duration) -> bool {
        match input {
            TypingInput::State(state) => {
                self.sent_at = None;
                let before = self.agent.replace(state);
                return before == Some(AgentState::Idle) && state != AgentState::Idle;
            }
            TypingInput::ScreenChanged => self.changed_at = now,
            TypingInput::Draft(draft) => {
                if draft.sent() != self.draft.sent() {
                    self.sent_at = Some(now);
                }
                self.draft = draft;
            }
            TypingInput::EmptyInput(is_empty) => self.shows_empty_input = is_empty,
            TypingInput::Wake | TypingInput::Prompted(_) => {}
        }
        false
    }

    fn step(&self, phase: Phase, now: Duration) -> (Option<Phase>, Option<TypingEffect>) {
        let takes = self.takes_prompts();
        match phase {
            Phase::Waiting if takes && !self.draft.has_text() && !self.may_react(now) => {
                (Some(Phase::Pasted { at: now, pastes: 1 }), Some(TypingEffect::Paste))
            }
            // A dialog may have come in between; what was pasted waits behind it.
            Phase::Pasted { at, pastes } if takes && now >= self.settled_at(at) => {
                if self.is_dropped(at) && pastes < MAX_PASTES && !self.draft.has_text() {
                    return (Some(Phase::Pasted { at: now, pastes: pastes + 1 }), Some(TypingEffect::Paste));
                }
                (Some(Phase::Entered { at: now, presses: 1 }), Some(TypingEffect::PressEnter))
            }
            Phase::Entered { at, presses } if now >= at + CONFIRM_TIME => self.again(at, presses, now),
            phase => (Some(phase), None),
        }
    }

    /// Whether the agent may be about to act on what a person has sent.
    fn may_react(&self, now: Duration) -> bool {
        self.sent_at.is_some_and(|at| now < at + REACTION_TIME)
    }

    /// Whether the agent has drawn something since it was given a prompt, and its input is empty all the same.
    fn is_dropped(&self, pasted_at: Duration) -> bool {
        self.shows_empty_input && self.changed_at > pasted_at
    }

    /// When the screen has taken in what was pasted then. Not before it changes: an agent that is too busy to read would get
    /// Enter together with the prompt, and take it for a part of that.
    fn settled_at(&self, pasted_at: Duration) -> Duration {
        if self.is_dropped(pasted_at) {
            return pasted_at + CONFIRM_TIME;
        }
        let longest = pasted_at + LONGEST_WAIT;
        if self.changed_at > pasted_at { (self.changed_at + STILL_TIME).min(longest) } else { longest }
    }

    fn again(&self, at: Duration, presses: u32, now: Duration) -> (Option<Phase>, Option<TypingEffect>) {
        if !self.confirms && self.changed_at > at {
            // An agent without hooks shows no more than that it reacts.
            return (None, Some(TypingEffect::Seen));
        }
        let takes = self.takes_prompts();
        if presses < MAX_PRESSES && takes && !self.draft.has_text() {
            let presses = presses + 1;
            return (Some(Phase::Entered { at: now, presses }), Some(TypingEffect::PressEnter));
        }
        (None, Some(TypingEffect::Unconfirmed))
    }
}

fn is_shown(input: TypingInput<'_>, text: &str) -> bool {
    matches!(input, TypingInput::Prompted(got) if is_same(got, text))
}

/// Whether two texts are the same but for blanks, which interfaces fold.
fn is_same(one: &str, other: &str) -> bool {
    one.chars().filter(|c| !c.is_whitespace()).eq(other.chars().filter(|c| !c.is_whitespace()))
}
