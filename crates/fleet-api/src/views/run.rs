//! How runs are shown.

use fleet_core::id::{BatchId, ProjectId};
use fleet_core::run::{AgentState, AgentStateNow, Reason, Run, RunState};
use fleet_core::task::{TaskMode, TaskState};

use crate::prelude::*;

/// A run.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RunView {
    pub id: RunId,
    pub task: TaskId,
    pub project: ProjectId,
    pub attempt: i64,
    pub state: RunState,
    pub reason: Option<Reason>,
    pub detail: Option<String>,
    pub runner: String,
    pub place: String,
    pub mode: TaskMode,
    pub agent: String,
    pub model: Option<String>,
    pub branch: Option<String>,
    pub base: Option<String>,
    /// Only while it lives: afterwards the folder is another run's.
    pub workspace: Option<String>,
    pub session: Option<String>,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub micro_usd: u64,
    pub activity: Option<String>,
    pub percent: Option<u8>,
    /// What the agent does now, if it runs in a terminal and shows that.
    pub agent_state: Option<AgentStateView>,
    /// Why it is to be stopped.
    pub stopping: Option<String>,
    /// When it counts as left alone, unless its keeper says that it lives.
    pub lease_until: Moment,
    /// The process that keeps it, while it lives.
    pub keeper: Option<i32>,
    pub created_at: Moment,
    pub started_at: Option<Moment>,
    pub ended_at: Option<Moment>,
}

impl From<&Run> for RunView {
    fn from(run: &Run) -> Self {
        Self {
            id: run.id,
            task: run.task,
            project: run.project,
            attempt: run.attempt,
            state: run.state(),
            reason: run.reason,
            detail: run.detail.clone(),
            runner: run.runner.clone(),
            place: run.place.clone(),
            mode: run.mode,
            agent: run.agent.clone(),
            model: run.model.clone(),
            branch: run.branch.clone(),
            base: run.base.clone(),
            workspace: run.workspace.clone().filter(|_| run.state.is_live()),
            session: run.session.clone(),
            input_tokens: run.usage.input_tokens,
            output_tokens: run.usage.output_tokens,
            micro_usd: run.usage.micro_usd,
            activity: run.activity.clone(),
            percent: run.percent,
            agent_state: run.agent_state.as_ref().map(AgentStateView::from),
            stopping: run.stop.as_ref().filter(|_| run.state.is_live()).map(|stop| stop.why.clone()),
            lease_until: Moment(run.lease_until),
            keeper: keeper(run),
            created_at: Moment(run.created_at),
            started_at: run.started_at.map(Moment),
            ended_at: run.ended_at.map(Moment),
        }
    }
}

/// What an agent in a terminal does now.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AgentStateView {
    pub state: AgentState,
    pub since: Moment,
    /// What it asks, if it asks something.
    pub text: String,
    /// How that is known.
    pub evidence: String,
}

impl From<&AgentStateNow> for AgentStateView {
    fn from(now: &AgentStateNow) -> Self {
        let (text, evidence) = (now.text.clone(), now.evidence.clone());
        Self { state: now.state, since: Moment(now.since), text, evidence }
    }
}

/// The number of the process that keeps a run.
fn keeper(run: &Run) -> Option<i32> {
    #[derive(Deserialize)]
    struct Process {
        pid: i32,
    }
    let keeper = run.keeper.as_deref().filter(|_| run.state.is_live())?;
    serde_json::from_str::<Process>(keeper).ok().map(|process| process.pid)
}

/// A run in a list.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ListedRunView {
    /// The run.
    #[serde(flatten)]
    pub run: RunView,
    /// What its task is called; nothing, if that was deleted.
    pub title: Option<String>,
    /// The state of its task; nothing, if that was deleted.
    pub task_state: Option<TaskState>,
    /// The branch that was chosen for its task.
    #[serde(default)]
    pub task_branch: Option<String>,
    /// The batch of its task.
    pub batch: Option<BatchId>,
    /// Its repository.
    pub project_name: String,
    /// Where it works or worked, in words, if that is not here.
    pub elsewhere: Option<String>,
    /// What it uses of this machine, if it runs here.
    pub load: Option<RunLoad>,
}

/// What a run uses of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunLoad {
    /// How many processes it has.
    pub processes: usize,
    /// How much of one processor: since the last look, or since its start if this is the first one.
    pub cpu_percent: Option<u64>,
    /// The memory of all its processes.
    pub memory_bytes: u64,
    /// How long it has printed nothing.
    pub idle_seconds: Option<u64>,
}
