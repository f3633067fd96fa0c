use fleet_core::task::TaskKind;

use crate::prelude::*;
use crate::views::Followed;

/// Lists the tasks of all projects by their age, newest first, page by page.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Only these; all, if empty.
    pub kinds: Vec<TaskKind>,
    /// Only those that are older than the task of this id: `next` of the page before.
    pub after: Option<String>,
    /// At most N.
    pub limit: u32,
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
