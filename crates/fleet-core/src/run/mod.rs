//! Runs: one attempt at a task by one agent in one workspace.

mod agent_state;
mod context;
mod health;
mod meter;
mod report;
mod session;
mod state;
mod stop;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use agent_state::{AgentState, AgentStateNow};
pub use context::ContextUse;
pub use health::{Health, RunSigns};
pub use meter::Meter;
pub use report::RunReport;
pub use session::is_session;
pub use state::{Reason, RunMove, RunState};
pub use stop::{StopKind, StopRequest};

use crate::budget::Bounds;
use crate::id::{ProjectId, RunId, TaskId};
use crate::task::TaskMode;
use crate::time::Millis;
use crate::transition::Current;

/// One attempt at a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// What it attempts.
    pub task: TaskId,
    /// The repository that it works on.
    pub project: ProjectId,
    /// The number of this run within its task, from 1. The store refuses writes of an earlier attempt.
    pub attempt: i64,
    /// Its state.
    pub state: Current<RunState>,
    /// Why it failed, if it did.
    pub reason: Option<Reason>,
    /// A sentence about the end, for people.
    pub detail: Option<String>,
    /// Who holds the lease.
    pub runner: String,
    /// The host and home where it runs. The runner of that home looks after the run.
    pub place: String,
    /// Whether its agent runs in a terminal.
    #[serde(default)]
    pub mode: TaskMode,
    /// The agent that does it.
    pub agent: String,
    /// The model that the agent was started with; none is the agent's own default.
    pub model: Option<String>,
    /// The branch that its work goes to, once there is a workspace.
    pub branch: Option<String>,
    /// The commit that it started from.
    pub base: Option<String>,
    /// Where its workspace is, at its place.
    pub workspace: Option<String>,
    /// Who keeps it, in the words of its place: enough to tell that process from any other.
    pub keeper: Option<String>,
    /// The agent's own name for the conversation, to go on with it.
    pub session: Option<String>,
    /// What the agent's own counters for that conversation stood at.
    pub meter: Option<Meter>,
    /// What it has used so far.
    pub usage: Totals,
    /// What the claim reserved for it: it may use no more. Empty without a budget.
    pub reserved: Bounds,
    /// Which account of the provider it uses; none is one that goes by the name of the agent.
    pub account: Option<String>,
    /// The last thing that its agent said, in a few words.
    pub activity: Option<String>,
    /// How far its agent says that it is, of a hundred.
    pub percent: Option<u8>,
    /// What its agent is doing, if that runs in a terminal.
    #[serde(default)]
    pub agent_state: Option<AgentStateNow>,
    /// How much of the agent's output has become events, in bytes.
    pub decoded: i64,
    /// The number of the last batch of events that was stored.
    #[serde(default)]
    pub batches: i64,
    /// A request to stop it.
    pub stop: Option<StopRequest>,
    /// The lease ends here unless renewed.
    pub lease_until: Millis,
    /// When it was claimed.
    pub created_at: Millis,
    /// When its agent was started.
    pub started_at: Option<Millis>,
    /// When it ended.
    pub ended_at: Option<Millis>,
}

impl Run {
    pub const fn state(&self) -> RunState {
        self.state.get()
    }

    pub fn account(&self) -> &str {
        self.account.as_deref().unwrap_or(&self.agent)
    }
}

/// What a run has used, in all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// Tokens that went in.
    pub input_tokens: u64,
    /// Tokens that came out.
    pub output_tokens: u64,
    /// Money, in millionths of a US dollar.
    pub micro_usd: u64,
}

/// How a run ended, as its keeper reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Everything that was asked for was observed.
    Succeeded,
    /// It failed, with a sentence for people.
    Failed(Reason, String),
    /// The agent asked a person something; the run is over, the task waits.
    Asked,
    /// Stopped through no fault of the task (shutdown, hand-over): tried again, not counted.
    Released(String),
    /// A person stopped it and does not want the task any more.
    Cancelled(String),
}

impl Ending {
    pub const fn run_move(&self) -> RunMove {
        match self {
            Self::Succeeded | Self::Asked => RunMove::Succeed,
            Self::Failed(Reason::TimedOut, _) => RunMove::TimeOut,
            Self::Failed(Reason::Lost, _) => RunMove::Lose,
            Self::Failed(..) => RunMove::Fail,
            Self::Released(_) | Self::Cancelled(_) => RunMove::Cancel,
        }
    }

    pub const fn reason(&self) -> Option<Reason> {
        match self {
            Self::Failed(reason, _) => Some(*reason),
            Self::Succeeded | Self::Asked | Self::Released(_) | Self::Cancelled(_) => None,
        }
    }
}
