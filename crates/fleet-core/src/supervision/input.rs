//! What a supervision is told.

use crate::budget::{self, Used};
use crate::outcome::AgentExit;
use crate::run::{Reason, Stop};
use crate::watchdog::{self, Activity};

use super::Work;

/// What holds for one agent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Settings {
    /// What it may use, with what is reserved for it.
    pub bounds: watchdog::Bounds,
    /// The limits of its task, which no reservation exceeds.
    pub limits: budget::Bounds,
    /// Whether a part of the budget is reserved for the run.
    pub has_reservation: bool,
    /// People are warned when this much of a bound is used.
    pub warn_percent: u8,
    /// Whether the agent keeps a record of its conversation.
    pub has_record: bool,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// It is time, see [`super::Supervision::wake_at`].
    Wake,
    /// The agent was started, or something else changed its status.
    Status(AgentStatus),
    /// The agent printed something.
    Output {
        /// It did not only say that it tries again what its provider refuses.
        shows_work: bool,
        /// What is known with that.
        status: AgentStatus,
    },
    /// One of its two pipes was closed.
    PipeClosed,
    /// Somebody wants the run stopped.
    Order(Order),
    /// Messages wait for the agent.
    MessagesWait,
    /// Its process exited.
    Exited(AgentExit),
    /// Work without a result ended.
    Ended(Work),
    /// [`Work::Probe`] ended.
    Probed(Activity),
    /// [`Work::Publish`] ended.
    Published {
        /// Whether everything is published.
        is_done: bool,
    },
    /// [`Work::Reserve`] ended: what is reserved now, if there was an answer.
    Reserved(Option<budget::Bounds>),
    /// [`Work::ReadRecord`] ended.
    RecordRead(AgentStatus),
}

/// An order from outside to end the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Stop the agent and end the run in this way.
    Stop(Stop),
    /// The run belongs to somebody else now, or to nobody: stop, save the work, change nothing in the store.
    Lost,
}

impl Order {
    /// Whether this order takes the place of an earlier one. A person's cancellation is not taken back by a shutdown, and
    /// nothing comes after the loss.
    pub fn beats(&self, earlier: Option<&Self>) -> bool {
        match (earlier, self) {
            (None, _) | (Some(Self::Stop(_)), Self::Lost) => true,
            (Some(Self::Stop(earlier)), Self::Stop(stop)) => stop.beats(Some(earlier)),
            (Some(Self::Lost), _) => false,
        }
    }
}

/// What the agent's output says about it so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentStatus {
    /// What it has used.
    pub used: Used,
    /// It said that it is done, and nobody has asked it for more since.
    pub is_done: bool,
    /// Why waiting for it is pointless.
    pub hopeless: Option<(Reason, String)>,
    /// At what price its tokens are counted because nobody knows their own.
    pub price_guess: Option<PriceGuess>,
    /// How much waits for the store.
    pub backlog: Backlog,
}

/// A price that is not the model's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceGuess {
    /// What is counted, in a sentence.
    pub text: String,
    /// What the user can do about it.
    pub remedy: String,
}

/// How many events wait for the store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Backlog {
    /// None.
    #[default]
    Empty,
    /// There are some.
    Waiting,
    /// As many as memory may hold.
    Full,
}
