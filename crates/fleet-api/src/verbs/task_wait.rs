use crate::prelude::*;
use crate::views::Followed;

/// Shows the state of tasks and their newest runs, and waits until it changes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Ids, or the beginnings of ids.
    pub ids: Vec<String>,
    /// `next` of the previous answer: wait until they change. Ids that no longer exist are then no mistake.
    pub after: Option<String>,
    /// How long to wait; not at all, if left out.
    pub wait_seconds: Option<u32>,
    /// Tell what is known of them here, too.
    pub details: bool,
}

/// Their state.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// In the order in which they were named, each once; those that were deleted are left out.
    pub tasks: Vec<Followed>,
    /// Identifies this answer in the next request.
    pub next: String,
}

verb!("task.wait", Request => Answer, Reads, Own, |request| Subject::tasks(&mut request.ids));
