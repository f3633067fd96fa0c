use fleet_core::task::TaskMode;

use crate::prelude::*;

/// Continues a task in a terminal, or without one: the same conversation, on the same branch.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The task: its id, its branch, or the id of a run.
    pub id: String,
    /// How it continues.
    pub mode: TaskMode,
}

/// What became of the task.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The task.
    pub task: TaskId,
    /// Its mode now.
    pub mode: TaskMode,
    /// The run that was stopped for it.
    pub stopped: Option<RunId>,
    /// Whether it was like that already, so that nothing was done.
    pub unchanged: bool,
}

verb!("run.mode", Request => Answer, Adds, People);
