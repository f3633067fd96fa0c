//! How workflows are shown.

use std::collections::BTreeMap;

use fleet_core::id::{ProjectId, WorkflowId};
use fleet_core::workflow::{PartCounts, PartState, Workflow, WorkflowState};

use crate::prelude::*;

/// A workflow.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowView {
    pub id: WorkflowId,
    pub project: ProjectId,
    pub name: String,
    pub state: WorkflowState,
    /// Why it failed or is cancelled.
    pub why: Option<String>,
    pub priority: i64,
    /// The commit that it starts from.
    pub base: String,
    pub progress: WorkflowProgress,
    pub created_at: Moment,
    pub updated_at: Moment,
    pub ended_at: Option<Moment>,
}

impl From<&Workflow> for WorkflowView {
    fn from(workflow: &Workflow) -> Self {
        Self {
            id: workflow.id,
            project: workflow.project,
            name: workflow.name.clone(),
            state: workflow.state(),
            why: workflow.why.clone(),
            priority: workflow.priority.get(),
            base: workflow.base.to_string(),
            progress: WorkflowProgress::from(&workflow.tally),
            created_at: Moment(workflow.created_at),
            updated_at: Moment(workflow.updated_at),
            ended_at: workflow.ended_at.map(Moment),
        }
    }
}

/// How many of its stages are in each state, copies counted one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowProgress {
    pub total: u32,
    pub pending: u32,
    pub running: u32,
    pub done: u32,
    pub failed: u32,
    pub cancelled: u32,
    pub skipped: u32,
}

impl WorkflowProgress {
    /// How many have finished.
    pub const fn over(&self) -> u32 {
        self.done + self.failed + self.cancelled + self.skipped
    }
}

impl From<&PartCounts> for WorkflowProgress {
    fn from(tally: &PartCounts) -> Self {
        let of = |state| tally.get(&state).copied().unwrap_or_default();
        Self {
            total: tally.values().sum(),
            pending: of(PartState::Pending),
            running: of(PartState::Running),
            done: of(PartState::Done),
            failed: of(PartState::Failed),
            cancelled: of(PartState::Cancelled),
            skipped: of(PartState::Skipped),
        }
    }
}

/// A workflow with its stages.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowDetail {
    /// The workflow.
    #[serde(flatten)]
    pub workflow: WorkflowView,
    /// Its repository.
    pub project_name: String,
    /// The task.
    pub task: String,
    /// The values of its parameters.
    pub params: BTreeMap<String, String>,
    /// Its stages, each after those that it needs.
    pub stages: Vec<StageView>,
    /// What to do next, most useful first; commands in backquotes.
    pub next: Vec<String>,
}

impl WorkflowDetail {
    /// Whether nothing more happens to it unless a person acts.
    pub fn is_at_rest(&self) -> bool {
        let waits = |stage: &StageView| matches!(stage.status.as_str(), "waiting" | "held");
        let mut running = self.stages.iter().filter(|stage| stage.state == PartState::Running).peekable();
        self.workflow.state.is_over()
            || (self.workflow.state == WorkflowState::Running
                && running.peek().is_some()
                && running.all(waits))
    }
}

/// A stage of a workflow, or one of its copies.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct StageView {
    /// As its stage, with its number where there are several.
    pub name: String,
    pub stage: String,
    /// The position of its stage in the file, from 0.
    pub index: usize,
    pub number: u32,
    pub item: Option<String>,
    pub needs: Vec<String>,
    pub state: PartState,
    /// The state; while its task is not over, the status of that.
    pub status: String,
    /// Whether it failed because its time was over.
    pub timed_out: bool,
    /// Why it was skipped, has failed, or is stuck.
    pub why: Option<String>,
    pub task: Option<TaskId>,
    pub run: Option<RunId>,
    pub attempts: i64,
    pub agent: Option<String>,
    pub model: Option<String>,
    pub read_only: bool,
    pub branch: Option<String>,
    pub activity: Option<String>,
    pub percent: Option<u8>,
    /// What its agent reports it did, once it has finished.
    pub summary: Option<String>,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub micro_usd: u64,
    pub started_at: Option<Moment>,
    pub ended_at: Option<Moment>,
}
