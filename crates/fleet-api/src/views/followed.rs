//! How tasks are shown to callers that wait for them.

use std::path::PathBuf;

use fleet_core::deps::Obstacle;
use fleet_core::id::BatchId;
use fleet_core::run::Run;
use fleet_core::task::{Task, TaskState};
use fleet_core::time::Millis;

use super::{ExistingBranchView, RunView, TaskView};
use crate::prelude::*;

/// A task that a caller waits for.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Followed {
    /// The task.
    #[serde(flatten)]
    pub task: TaskView,
    /// Its newest run.
    pub run: Option<RunView>,
    /// What is known about them here, if asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
}

/// What is known of a task and its newest run where they are looked at.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Details {
    /// Where its repository is.
    pub repo: Option<PathBuf>,
    /// Who does it, chosen or not.
    pub agent: String,
    /// Its model, chosen or configured; none is its agent's own choice.
    pub model: Option<String>,
    /// How long a run may take, chosen or not.
    pub most_seconds: Option<u64>,
    /// The task whose agent added it.
    pub parent: Option<TaskId>,
    /// When the process that keeps its run last showed that it lives.
    pub kept_at: Option<Moment>,
    /// The exit status of its agent, as a shell shows it, once that has ended.
    pub exit_code: Option<i32>,
    /// The folder that `fleet open` made of its run after its end.
    pub opened: Option<PathBuf>,
    /// When its agent last printed something.
    pub printed_at: Option<Moment>,
    /// What is kept of its run on this machine.
    pub files: Option<RunFiles>,
}

/// What is kept of a run on a machine.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RunFiles {
    pub folder: PathBuf,
    pub prompt: PathBuf,
    pub result: PathBuf,
    pub stdout: PathBuf,
    pub stderr: PathBuf,
    pub ending: PathBuf,
}

impl Followed {
    /// Shows a task as it is at `now`, with its newest run and what blocks it.
    pub fn new((task, run): (&Task, Option<&Run>), obstacle: Option<&Obstacle>, now: Millis) -> Self {
        Self { task: TaskView::new(task, now).behind(obstacle), run: run.map(RunView::from), details: None }
    }

    /// Whether nothing more happens to it unless a person acts.
    pub fn is_over(&self) -> bool {
        let waits_for_a_person = matches!(self.task.state, TaskState::Waiting | TaskState::Held);
        let is_doomed = self.task.obstacle.as_ref().is_some_and(|obstacle| obstacle.needs_a_person);
        self.task.state.is_settled() || waits_for_a_person || is_doomed
    }

    /// Whether it is done.
    pub fn is_done(&self) -> bool {
        self.task.state == TaskState::Done
    }

    /// The branch that its work goes to, chosen or not.
    pub fn branch(&self) -> String {
        let of_run = self.run.as_ref().and_then(|run| run.branch.clone());
        of_run.or_else(|| self.task.branch.clone()).unwrap_or_else(|| format!("fleet/{}", self.task.id))
    }

    /// The last thing that the agent of its newest run said, in a few words.
    pub fn activity(&self) -> Option<&str> {
        self.run.as_ref()?.activity.as_deref()
    }

    /// How far the agent of its newest run says that it is, of a hundred.
    pub fn percent(&self) -> Option<u8> {
        self.run.as_ref()?.percent
    }
}

/// What was launched, and later its state.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Launched {
    /// The batch, if they are one.
    pub batch: Option<BatchId>,
    /// The tasks, in the order in which they were asked for.
    pub tasks: Vec<Followed>,
    /// Those of their branches that existed before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub existing_branches: Vec<ExistingBranchView>,
}
