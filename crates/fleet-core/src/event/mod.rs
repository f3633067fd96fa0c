//! Events: append-only facts with a sequence number. Everything live is a view of them.

mod agent;
mod when;

use serde::{Deserialize, Serialize};

use crate::id::{ProjectId, RunId, TaskId, WorkflowId};
use crate::run::{Reason, RunState};
use crate::task::{Priority, Title};
use crate::time::Millis;
use crate::workflow::{PartState, Skip, WorkflowState};

pub use agent::{AgentEvent, Counted, Stream, Tokens};
pub use when::{LocalTime, When};

/// What happened. The name in `kind` and the fields are a stable, documented shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "data")]
#[expect(missing_docs, reason = "the fields of a fact speak for themselves, and docs/json.md has each")]
pub enum Fact {
    /// A repository was seen for the first time.
    #[serde(rename = "project.added")]
    ProjectAdded { name: String },
    /// A task was added.
    #[serde(rename = "task.added")]
    TaskAdded { title: Title, priority: Priority, after: Vec<TaskId> },
    /// Fields of a task changed.
    #[serde(rename = "task.edited")]
    TaskEdited { fields: Vec<String> },
    /// A task was put aside.
    #[serde(rename = "task.held")]
    TaskHeld { remark: Option<String> },
    /// A task was taken up again.
    #[serde(rename = "task.released")]
    TaskReleased {},
    /// A task is not wanted any more.
    #[serde(rename = "task.cancelled")]
    TaskCancelled { remark: Option<String> },
    /// A person wants a task tried again.
    #[serde(rename = "task.retried")]
    TaskRetried {},
    /// Somebody has something to say to the agent of a task.
    #[serde(rename = "task.prompted")]
    TaskPrompted { number: i64, text: String, by: String },
    /// A task that was over is queued again, because somebody had more to say.
    #[serde(rename = "task.reopened")]
    TaskReopened {},
    /// A task was removed for good.
    #[serde(rename = "task.deleted")]
    TaskDeleted { title: Title },
    /// A task now waits for another.
    #[serde(rename = "task.dependency_added")]
    DependencyAdded { on: TaskId },
    /// A task no longer waits for another.
    #[serde(rename = "task.dependency_removed")]
    DependencyRemoved { on: TaskId },
    /// A runner claimed a task: a run began.
    #[serde(rename = "task.started")]
    TaskStarted { runner: String, agent: String, attempt: i64, lease_until: Millis },
    /// A run moved on.
    #[serde(rename = "run.moved")]
    RunMoved { state: RunState },
    /// A run succeeded, and with it the task.
    #[serde(rename = "task.done")]
    TaskDone {},
    /// A run ended with a question to a person.
    #[serde(rename = "task.waiting")]
    TaskWaiting {},
    /// A run failed and the task is given up.
    #[serde(rename = "task.failed")]
    TaskFailed { reason: Reason, detail: String, failures: u32 },
    /// A run ended and the task is queued again.
    #[serde(rename = "task.requeued")]
    TaskRequeued { reason: Option<Reason>, detail: String, failures: u32, not_before: Option<Millis> },
    /// The workspace of a run is ready: its branch, and the commit that it starts from.
    #[serde(rename = "run.prepared")]
    RunPrepared { branch: Option<String>, base: Option<String> },
    /// The agent left a note, from inside the run.
    #[serde(rename = "run.note")]
    RunNote { text: String },
    /// The agent said how far it is, from inside the run.
    #[serde(rename = "run.progress")]
    RunProgress { text: String, percent: Option<u8> },
    /// The agent declared its work over, from inside the run: a claim, not yet looked at.
    #[serde(rename = "run.reported")]
    RunReported { status: String, summary: String },
    /// The agent was told what somebody had to say.
    #[serde(rename = "run.prompted")]
    RunPrompted { number: i64, text: String },
    /// Somebody or a limit stops the run.
    #[serde(rename = "run.stopping")]
    RunStopping { why: String },
    /// So many more events of the run were left out, because they came too fast.
    #[serde(rename = "run.omitted")]
    RunOmitted { count: u64 },
    /// A task goes on with another agent.
    #[serde(rename = "task.handed_over")]
    TaskHandedOver { from: String, to: String, reason: Reason },
    /// An account takes no work until a moment: all agents that use it wait.
    #[serde(rename = "account.paused")]
    AccountPaused { account: String, agent: Option<String>, until: Millis, why: String },
    /// An account takes work again, before its pause was over.
    #[serde(rename = "account.resumed")]
    AccountResumed { account: String },
    /// A workflow began.
    #[serde(rename = "workflow.started")]
    WorkflowStarted { workflow: WorkflowId, name: String, stages: usize },
    /// A stage of a workflow became a task.
    #[serde(rename = "workflow.stage_started")]
    StageStarted { workflow: WorkflowId, stage: String },
    /// A stage of a workflow is over, or is tried again.
    #[serde(rename = "workflow.stage_moved")]
    StageMoved { workflow: WorkflowId, stage: String, state: PartState, why: Option<String> },
    /// A stage of a workflow will not be started.
    #[serde(rename = "workflow.stage_skipped")]
    StageSkipped { workflow: WorkflowId, stage: String, why: Skip },
    /// A workflow is not wanted any more; what runs of it is being stopped.
    #[serde(rename = "workflow.cancelling")]
    WorkflowCancelling { workflow: WorkflowId, why: Option<String> },
    /// A workflow that was over goes on, because somebody wants something of it once more.
    #[serde(rename = "workflow.retried")]
    WorkflowRetried { workflow: WorkflowId, from: Option<String> },
    /// A workflow is over.
    #[serde(rename = "workflow.ended")]
    WorkflowEnded { workflow: WorkflowId, state: WorkflowState, why: Option<String> },
    /// A workflow and its tasks were removed for good.
    #[serde(rename = "workflow.deleted")]
    WorkflowDeleted { workflow: WorkflowId, name: String },
    /// Something that a newer version wrote: kept and shown as it is.
    #[serde(skip)]
    Unknown { kind: String, data: serde_json::Value },
    /// What the agent of a run did or said, or a warning of its keeper: `run.said` and others, see [`AgentEvent`].
    Agent(AgentEvent),
}

/// Kinds that say how a run goes; everything else is in its log.
pub const NOTES: &[&str] = &[
    "run.note",
    "run.progress",
    "run.reported",
    "run.prompted",
    "run.error",
    "run.warned",
    "run.stopping",
    "run.omitted",
];
/// Kinds that say why a run failed.
pub const TROUBLE: &[&str] =
    &["run.retrying", "run.limited", "run.denied", "run.error", "run.warned", "run.stopping", "run.reported"];
/// The kind of [`AgentEvent::Warning`].
pub const WARNING: &[&str] = &["run.warned"];
/// The kind of [`Fact::RunNote`].
pub const NOTE: &[&str] = &["run.note"];

/// What an event is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Subject {
    /// The project, if it is about one.
    pub project: Option<ProjectId>,
    /// The task, if it is about one.
    pub task: Option<TaskId>,
    /// The run, if it is about one.
    pub run: Option<RunId>,
}

/// A fact with its place in the order of all facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Counts from one, without gaps, causes before effects.
    pub seq: i64,
    /// When it happened, by the clock of the process that wrote it.
    pub at: Millis,
    /// What it is about.
    pub subject: Subject,
    /// What happened.
    pub fact: Fact,
}

impl Fact {
    /// A warning of the agent or of its keeper.
    pub const fn warning(text: String) -> Self {
        Self::Agent(AgentEvent::Warning { text })
    }

    /// The stable name.
    pub fn kind(&self) -> String {
        self.parts().0
    }

    /// The name and the fields, as the store keeps them.
    pub fn parts(&self) -> (String, String) {
        match self {
            Self::Unknown { kind, data } => (kind.clone(), data.to_string()),
            Self::Agent(event) => event.parts(),
            _ => {
                // A tagged enum of plain fields always serialises to an object with both members.
                let value = serde_json::to_value(self).unwrap_or_default();
                let kind = value["kind"].as_str().unwrap_or_default().to_owned();
                (kind, value["data"].to_string())
            }
        }
    }

    /// Reads back what [`Fact::parts`] gave; a fact that this version does not know stays readable.
    pub fn from_parts(kind: &str, data: &str) -> Result<Self, serde_json::Error> {
        let data: serde_json::Value = serde_json::from_str(data)?;
        if let Some(event) = AgentEvent::from_parts(kind, &data) {
            return Ok(Self::Agent(event));
        }
        let known = serde_json::from_value(serde_json::json!({ "kind": kind, "data": data }));
        Ok(known.unwrap_or_else(|_| Self::Unknown { kind: kind.to_owned(), data }))
    }
}

#[cfg(test)]
mod tests;
