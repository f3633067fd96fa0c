use crate::prelude::*;

/// Finds a task by its id, the id of one of its runs, or its branch.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The id of a task or run, the beginning of one, or a branch.
    pub id: String,
}

/// What is meant.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The task.
    pub task: TaskId,
    /// The run that was named, or the newest one; nothing, if it was never started.
    pub run: Option<RunId>,
}

verb!("task.find", Request => Answer, Reads, Project);
