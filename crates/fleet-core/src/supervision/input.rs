//! The inputs of a supervision.

use crate::budget::{self, Used};
use crate::outcome::AgentExit;
use crate::run::{ContextUse, Reason, StopRequest};
use crate::watchdog::{self, Activity};

use super::BackgroundWork;

#[derive(Debug, Clone, Copy, Default)]
pub struct SupervisionSettings {
    /// What it may use, with what is reserved for it.
    pub bounds: watchdog::WatchdogLimits,
    /// The limits of its task, which no reservation exceeds.
    pub limits: budget::Bounds,
    pub has_reservation: bool,
    /// People are warned when this much of a bound is used.
    pub warn_percent: u8,
    pub has_record: bool,
    /// From this percentage of the model's context on, the agent is stopped. None where a person decides.
    pub context_pressure: Option<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// It is time, see [`super::Supervision::wake_at`].
    Wake,
    Status(AgentStatus),
    Output {
        /// Whether it is more than a notice that the agent retries.
        shows_work: bool,
        status: AgentStatus,
    },
    PipeClosed,
    Order(Order),
    MessagesWait,
    /// What it asks people changed.
    Asking(Asking),
    Exited(AgentExit),
    /// Work without a result ended.
    Ended(BackgroundWork),
    /// [`BackgroundWork::Probe`] ended.
    Probed(Activity),
    /// [`BackgroundWork::Publish`] ended.
    Published {
        /// Whether everything is published.
        is_done: bool,
    },
    /// [`BackgroundWork::Reserve`] ended: what is reserved now, if there was an answer.
    Reserved(Option<budget::Bounds>),
    /// [`BackgroundWork::ReadRecord`] ended.
    RecordRead(AgentStatus),
}

/// What the agent asks people.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asking {
    /// How many of its calls wait for an answer.
    pub waiting: usize,
    /// It does not wait: its run ends with the question.
    pub parks: bool,
}

/// An order from outside to end the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Stop the agent and end the run in this way.
    Stop(StopRequest),
    /// The run has another keeper, or none: stop, save the work, change nothing in the store.
    Lost,
}

impl Order {
    /// Whether this order takes the place of an earlier one. A person's cancellation is not taken back by a shutdown, and
    /// nothing comes after the loss.
    pub fn supersedes(&self, earlier: Option<&Self>) -> bool {
        match (earlier, self) {
            (None, _) | (Some(Self::Stop(_)), Self::Lost) => true,
            (Some(Self::Stop(earlier)), Self::Stop(stop)) => stop.supersedes(Some(earlier)),
            (Some(Self::Lost), _) => false,
        }
    }
}

/// What the agent's output says about it so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentStatus {
    pub used: Used,
    /// How full its conversation is, if both numbers are known.
    pub context: Option<ContextUse>,
    /// It said that it is done, and was asked for nothing more since.
    pub is_done: bool,
    /// Why waiting for it is pointless.
    pub hopeless: Option<(Reason, String)>,
    /// The price that is used because the model's own is unknown.
    pub price_guess: Option<PriceGuess>,
    pub backlog: Backlog,
}

/// A price that is not the model's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceGuess {
    pub text: String,
    pub remedy: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Backlog {
    #[default]
    Empty,
    Waiting,
    /// As many as memory may hold.
    Full,
}
