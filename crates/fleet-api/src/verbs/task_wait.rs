use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Subject;
use crate::verb::verb;
use crate::views::Followed;

/// Tells how tasks and their newest runs stand, and waits until that changes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Ids, or the beginnings of ids.
    pub ids: Vec<String>,
    /// `next` of the answer before: wait until they stand otherwise.
    pub after: Option<String>,
    /// Wait at most so long; not at all, if left out.
    pub wait_seconds: Option<u32>,
    /// Tell what is known of them here, too.
    pub details: bool,
}

/// How they stand.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// In the order in which they were named, each once; those that were deleted are left out.
    pub tasks: Vec<Followed>,
    /// Stands for this answer in the next request.
    pub next: String,
}

verb!("task.wait", Request => Answer, Reads, Own, |request| Subject::tasks(&mut request.ids));
