//! What can go wrong in the store.

use fleet_core::id::{RunId, TaskId, WorkflowId};
use fleet_core::message::Refusal;
use fleet_core::run::{RunMove, RunState};
use fleet_core::task::{EditRefused, FieldError, TaskMove, TaskState, TooDeep};
use fleet_core::workflow::{WorkflowMove, WorkflowState};

/// An operation did not happen: nothing was changed.
#[derive(Debug, Clone, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum StoreError {
    #[error("there is no task {0}")]
    TaskNotFound(String),
    #[error("there is no run {0}")]
    RunNotFound(String),
    #[error("there is no workflow {0}")]
    WorkflowNotFound(String),
    #[error("workflow {workflow} has no stage {stage}; it has {}", choices.join(", "))]
    StageNotFound { workflow: WorkflowId, stage: String, choices: Vec<String> },
    #[error("{prefix} could be any of {}", matches.join(", "))]
    Ambiguous { prefix: String, matches: Vec<String> },
    #[error("task {task} is {from}: it cannot be {}", event.participle())]
    Illegal { task: TaskId, from: TaskState, event: TaskMove },
    #[error("task {task} is {from}: it cannot {wish}")]
    NotNow { task: TaskId, from: TaskState, wish: &'static str },
    #[error("run {run} is {from}: it cannot {event}")]
    IllegalRun { run: RunId, from: RunState, event: RunMove },
    #[error("workflow {workflow} is {from}: it cannot be {}", event.participle())]
    IllegalWorkflow { workflow: WorkflowId, from: WorkflowState, event: WorkflowMove },
    #[error("workflow {workflow} is {from}: it cannot be deleted")]
    WorkflowLive { workflow: WorkflowId, from: WorkflowState },
    #[error("task {task} cannot be deleted: it is a stage of workflow {workflow}")]
    StageOfWorkflow { task: TaskId, workflow: WorkflowId },
    #[error("task {task}: {refused}")]
    EditRefused { task: TaskId, refused: EditRefused },
    #[error("task {task} takes no prompt: {refusal}")]
    MessageRefused { task: TaskId, refusal: Refusal },
    #[error("run {run} was not given message {seq}")]
    MessageNotTaken { run: RunId, seq: i64 },
    #[error("a task cannot wait for itself: {}", show_path(path))]
    Cycle { path: Vec<TaskId> },
    #[error("task {task} cannot be deleted: {} waits for it", dependents[0])]
    HasDependents { task: TaskId, dependents: Vec<TaskId> },
    #[error("task {0} exists already")]
    TaskExists(TaskId),
    #[error("task {task} does not wait for {on}")]
    NoSuchDependency { task: TaskId, on: TaskId },
    #[error(transparent)]
    Field(#[from] FieldError),
    #[error("branch {branch} belongs to task {task}, which is not over")]
    BranchTaken { branch: String, task: TaskId },
    #[error("branch {branch} is reserved for task {task}: it is made from its id")]
    BranchReserved { branch: String, task: TaskId },
    #[error("task {task} has {most} tasks that its agents added and that are not over")]
    TooManyAdded { task: TaskId, most: usize },
    #[error("run {run} no longer belongs to this keeper")]
    LeaseLost { run: RunId },
    #[error(transparent)]
    TooDeep(#[from] TooDeep),
    #[error("the events of run {run} go on at byte {decoded}, not at {from}")]
    OutOfStep { run: RunId, decoded: i64, from: i64 },

    /// Two changes met; the driver tries again before anybody sees this.
    #[error("somebody else changed it at the same moment")]
    Changed,
    #[error("the store's write lock was not free for {seconds} seconds{}", blame(holder.as_deref()))]
    Busy { seconds: u64, holder: Option<String> },
    #[error("cannot reach the store at {at}: {why}")]
    Unreachable { at: String, why: String },
    /// It answers, and did not do it.
    #[error("the store at {at} cannot do this right now: {why}")]
    Unavailable { at: String, why: String },
    #[error("{at} is not a usable codefleet store: {why}")]
    Corrupt { at: String, why: String },
    #[error("the store at {at} has schema version {found}, this program knows up to {known}")]
    TooNew { at: String, found: i64, known: i64 },
    #[error("no space left for the store at {at}")]
    Full { at: String },
    #[error("cannot write to the store at {at}: {why}")]
    Unwritable { at: String, why: String },
    #[error("the store holds something unexpected: {0}")]
    Malformed(String),
    #[error("the store failed: {0}")]
    Failed(String),
}

impl StoreError {
    /// Whether the same may work a little later, without anybody doing anything about the request.
    pub const fn is_temporary(&self) -> bool {
        matches!(
            self,
            Self::Changed
                | Self::Busy { .. }
                | Self::Unreachable { .. }
                | Self::Unavailable { .. }
                | Self::Full { .. }
        )
    }
}

fn blame(holder: Option<&str>) -> String {
    holder.map(|holder| format!(": {holder}")).unwrap_or_default()
}

fn show_path(path: &[TaskId]) -> String {
    path.iter().map(TaskId::as_str).collect::<Vec<_>>().join(" → ")
}
