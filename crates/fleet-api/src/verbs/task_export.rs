use crate::prelude::*;

/// Writes the tasks of a project as JSON lines that `task.import` reads, oldest first, page by page.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Only those after this one: `next` of the page before.
    pub after: Option<TaskId>,
    /// At most N; 1000 if left out.
    pub limit: Option<u32>,
}

/// A page.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Each is the JSON of one task.
    pub lines: Vec<String>,
    /// What names the next page; nothing on the last one.
    pub next: Option<TaskId>,
}

verb!("task.export", Request => Answer, Reads, Project);
