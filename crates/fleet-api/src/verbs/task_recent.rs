use fleet_core::id::TaskId;
use fleet_core::task::TaskState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verb::verb;
use crate::views::Followed;

/// Lists the tasks of all projects by their age, newest first, page by page.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Only these; all, if empty.
    pub kinds: Vec<TaskKind>,
    /// Only those that are older than the task of this id: `next` of the page before.
    pub after: Option<String>,
    /// At most so many.
    pub limit: u32,
}

/// Tasks of one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskKind {
    /// The state.
    pub state: TaskState,
    /// Whether they failed because their time was over; both, if left out.
    pub timed_out: Option<bool>,
}

/// A page.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The tasks, newest first; of an agent, those that come from its own.
    pub tasks: Vec<Followed>,
    /// What names the next page, if there is one.
    pub next: Option<TaskId>,
}

verb!("task.recent", Request => Answer, Reads, Own);
