//! Runs: one attempt at a task by one agent in one workspace.

mod state;

use serde::{Deserialize, Serialize};

pub use state::{Reason, RunMove, RunState};

use crate::id::{RunId, TaskId};
use crate::time::Millis;

/// One attempt at a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// What it attempts.
    pub task: TaskId,
    /// The fencing number: which attempt at the task this is. A write with a lower one is refused.
    pub fence: i64,
    /// Where it stands.
    pub state: RunState,
    /// Why it failed, if it did.
    pub reason: Option<Reason>,
    /// A sentence about the end, for people.
    pub detail: Option<String>,
    /// Who holds the lease.
    pub runner: String,
    /// The agent that does it.
    pub agent: String,
    /// The lease ends here unless renewed.
    pub lease_until: Millis,
    /// When it was claimed.
    pub created_at: Millis,
    /// When it ended.
    pub ended_at: Option<Millis>,
}

/// How a run ended, as its keeper reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// Everything that was asked for was observed.
    Succeeded,
    /// It failed, with a sentence for people.
    Failed(Reason, String),
    /// The agent asked a person something; the run is over, the task waits.
    Asked,
    /// Stopped through no fault of the task (shutdown, hand-over): tried again, not counted.
    Released(String),
    /// A person stopped it, with a remark: neither tried again nor counted.
    Cancelled(String),
}

impl Ending {
    /// What happens to the run.
    pub const fn run_move(&self) -> RunMove {
        match self {
            Self::Succeeded | Self::Asked => RunMove::Succeed,
            Self::Failed(Reason::TimedOut, _) => RunMove::TimeOut,
            Self::Failed(Reason::Lost, _) => RunMove::Lose,
            Self::Failed(..) => RunMove::Fail,
            Self::Released(_) | Self::Cancelled(_) => RunMove::Cancel,
        }
    }
}
