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
pub enum Fact {
    /// A repository was seen for the first time.
    #[serde(rename = "project.added")]
    ProjectAdded { name: String },
    #[serde(rename = "task.added")]
    TaskAdded { title: Title, priority: Priority, after: Vec<TaskId> },
    #[serde(rename = "task.edited")]
    TaskEdited { fields: Vec<String> },
    #[serde(rename = "task.held")]
    TaskHeld { remark: Option<String> },
    #[serde(rename = "task.released")]
    TaskReleased {},
    #[serde(rename = "task.cancelled")]
    TaskCancelled { remark: Option<String> },
    #[serde(rename = "task.retried")]
    TaskRetried {},
    /// A message was sent to the agent of a task.
    #[serde(rename = "task.prompted")]
    TaskPrompted { number: i64, text: String, by: String },
    /// A message was taken back before an agent was given it.
    #[serde(rename = "task.prompt_cancelled")]
    TaskPromptCancelled { number: i64 },
    /// The agent of a task asked people something.
    #[serde(rename = "task.asked")]
    TaskAsked { number: i64, text: String, options: Vec<String> },
    /// A question of its agent was answered.
    #[serde(rename = "task.answered")]
    TaskAnswered { number: i64, text: String, by: String },
    /// A task that was over is queued again, because a follow-up message arrived.
    #[serde(rename = "task.reopened")]
    TaskReopened {},
    #[serde(rename = "task.deleted")]
    TaskDeleted { title: Title },
    #[serde(rename = "task.dependency_added")]
    DependencyAdded { on: TaskId },
    #[serde(rename = "task.dependency_removed")]
    DependencyRemoved { on: TaskId },
    /// A runner claimed a task: a run began.
    #[serde(rename = "task.started")]
    TaskStarted { runner: String, agent: String, attempt: i64, lease_until: Millis },
    #[serde(rename = "run.moved")]
    RunMoved { state: RunState },
    #[serde(rename = "task.done")]
    TaskDone {},
    #[serde(rename = "task.waiting")]
    TaskWaiting {},
    #[serde(rename = "task.failed")]
    TaskFailed { reason: Reason, detail: String, failures: u32 },
    /// A run ended and the task is queued again.
    #[serde(rename = "task.requeued")]
    TaskRequeued { reason: Option<Reason>, detail: String, failures: u32, not_before: Option<Millis> },
    /// The workspace of a run is ready: its branch, and the commit that it starts from.
    #[serde(rename = "run.prepared")]
    RunPrepared { branch: Option<String>, base: Option<String> },
    #[serde(rename = "run.note")]
    RunNote { text: String },
    /// The agent said how far it is, from inside the run.
    #[serde(rename = "run.progress")]
    RunProgress { text: String, percent: Option<u8> },
    /// The agent declared its work over, from inside the run: a claim, not yet looked at.
    #[serde(rename = "run.reported")]
    RunReported { status: String, summary: String },
    /// The agent got a message.
    #[serde(rename = "run.prompted")]
    RunPrompted { number: i64, text: String },
    /// A user or a limit stops the run.
    #[serde(rename = "run.stopping")]
    RunStopping { why: String },
    /// More events of the run were left out, because they came too fast: how many.
    #[serde(rename = "run.omitted")]
    RunOmitted { count: u64 },
    #[serde(rename = "task.handed_over")]
    TaskHandedOver { from: String, to: String, reason: Reason },
    /// An account takes no work until a moment: all agents that use it wait.
    #[serde(rename = "account.paused")]
    AccountPaused { account: String, agent: Option<String>, until: Millis, why: String },
    #[serde(rename = "account.resumed")]
    AccountResumed { account: String },
    /// A person paused the queue: nothing of this project and agent, or of all of them, is started.
    #[serde(rename = "queue.paused")]
    QueuePaused { agent: Option<String>, why: String },
    #[serde(rename = "queue.resumed")]
    QueueResumed { agent: Option<String> },
    #[serde(rename = "workflow.started")]
    WorkflowStarted { workflow: WorkflowId, name: String, stages: usize },
    /// A stage of a workflow became a task.
    #[serde(rename = "workflow.stage_started")]
    StageStarted { workflow: WorkflowId, stage: String },
    /// A stage of a workflow ended, or is retried.
    #[serde(rename = "workflow.stage_moved")]
    StageMoved { workflow: WorkflowId, stage: String, state: PartState, why: Option<String> },
    #[serde(rename = "workflow.stage_skipped")]
    StageSkipped { workflow: WorkflowId, stage: String, why: Skip },
    /// A workflow is not wanted any more; what runs of it is being stopped.
    #[serde(rename = "workflow.cancelling")]
    WorkflowCancelling { workflow: WorkflowId, why: Option<String> },
    /// A finished workflow continues, because a user wants something of it once more.
    #[serde(rename = "workflow.retried")]
    WorkflowRetried { workflow: WorkflowId, from: Option<String> },
    #[serde(rename = "workflow.ended")]
    WorkflowEnded { workflow: WorkflowId, state: WorkflowState, why: Option<String> },
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
pub const WARNING: &[&str] = &["run.warned"];
pub const NOTE: &[&str] = &["run.note"];

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EventSubject {
    pub project: Option<ProjectId>,
    pub task: Option<TaskId>,
    pub run: Option<RunId>,
}

/// A fact with its place in the order of all facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Counts from one, without gaps, causes before effects.
    pub seq: i64,
    /// When it happened, by the clock of the process that wrote it.
    pub at: Millis,
    pub subject: EventSubject,
    pub fact: Fact,
}

impl Fact {
    pub const fn warning(text: String) -> Self {
        Self::Agent(AgentEvent::Warning { text })
    }

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
