//! What can go wrong in the store.

use fleet_core::id::{RunId, TaskId, WorkflowId};
use fleet_core::message::{AnswerRefusal, MAX_OPEN, MessageId, MessageRefusal};
use fleet_core::run::{RunMove, RunState};
use fleet_core::task::{EditRefused, FieldError, TaskMove, TaskState, TooDeep};
use fleet_core::workflow::{WorkflowMove, WorkflowState};

/// An operation did not happen: nothing was changed.
#[derive(Debug, Clone, thiserror::Error)]
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
    #[error("task {task} {}", refused(*from, *event))]
    Illegal { task: TaskId, from: TaskState, event: TaskMove },
    #[error("task {task} is {from}: it cannot {wish}")]
    NotNow { task: TaskId, from: TaskState, wish: &'static str },
    #[error("run {run} is {from}: it cannot {event}")]
    IllegalRun { run: RunId, from: RunState, event: RunMove },
    #[error("workflow {workflow} {}", refused_workflow(*from, *event))]
    IllegalWorkflow { workflow: WorkflowId, from: WorkflowState, event: WorkflowMove },
    #[error("workflow {workflow} is {from}: it cannot be deleted")]
    WorkflowLive { workflow: WorkflowId, from: WorkflowState },
    #[error("task {task} cannot be deleted: it is a stage of workflow {workflow}")]
    PartOfWorkflow { task: TaskId, workflow: WorkflowId },
    #[error("task {task}: {refused}")]
    EditRefused { task: TaskId, refused: EditRefused },
    #[error("task {task} accepts no prompts: {refusal}")]
    MessageRefused { task: TaskId, refusal: MessageRefusal },
    #[error("there is no question {0}")]
    QuestionNotFound(MessageId),
    #[error("question {id}: {refusal}")]
    AnswerRefused { id: MessageId, refusal: AnswerRefusal },
    #[error("task {0} has {MAX_OPEN} open questions already")]
    TooManyQuestions(TaskId),
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
    #[error("branch {branch} belongs to task {task}, which has not finished")]
    BranchTaken { branch: String, task: TaskId },
    #[error("branch {branch} is reserved for task {task}: the name is derived from its id")]
    BranchReserved { branch: String, task: TaskId },
    #[error("task {task} already has {most} unfinished tasks that its agents added")]
    TooManyAdded { task: TaskId, most: usize },
    #[error("run {run} no longer belongs to this keeper")]
    LeaseLost { run: RunId },
    #[error(transparent)]
    TooDeep(#[from] TooDeep),
    #[error("the events of run {run} continue at byte {decoded}, not at {from}")]
    OutOfStep { run: RunId, decoded: i64, from: i64 },

    /// Two changes met; the driver tries again before a caller sees this.
    #[error("another process changed it at the same time")]
    Changed,
    #[error("the store's write lock was not free for {seconds} seconds{}", held_by(holder.as_deref()))]
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
    /// Whether the same request may succeed a little later.
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

fn refused(from: TaskState, event: TaskMove) -> String {
    match (from, event) {
        (TaskState::Held, TaskMove::Hold) => "is already held".to_owned(),
        (TaskState::Queued, TaskMove::Release) => "is not held".to_owned(),
        (TaskState::Queued, TaskMove::Retry) => "is already queued".to_owned(),
        (from, event) => format!("is {from}: it cannot be {}", event.participle()),
    }
}

fn refused_workflow(from: WorkflowState, event: WorkflowMove) -> String {
    match (from, event) {
        (WorkflowState::Succeeded, WorkflowMove::Retry) => "has already succeeded".to_owned(),
        (from, event) => format!("is {from}: it cannot be {}", event.participle()),
    }
}

fn held_by(holder: Option<&str>) -> String {
    holder.map(|holder| format!(": {holder}")).unwrap_or_default()
}

fn show_path(path: &[TaskId]) -> String {
    path.iter().map(TaskId::as_str).collect::<Vec<_>>().join(" → ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_so_already_is_said_plainly() {
        assert_eq!(refused(TaskState::Held, TaskMove::Hold), "is already held");
        assert_eq!(refused(TaskState::Queued, TaskMove::Release), "is not held");
        assert_eq!(refused(TaskState::Running, TaskMove::Hold), "is running: it cannot be held");
        let workflow = refused_workflow(WorkflowState::Succeeded, WorkflowMove::Retry);
        assert_eq!(workflow, "has already succeeded");
    }
}
