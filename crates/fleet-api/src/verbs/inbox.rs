use crate::prelude::*;
use crate::views::NeedsYou;

/// Shows what waits for a person: questions, dialogs in terminals, failed tasks, and tasks that can never start.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// `next` of the previous answer: wait until something changes.
    pub after: Option<String>,
    /// How long to wait; not at all, if left out.
    pub wait_seconds: Option<u32>,
}

/// What waits for a person.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Dialogs and questions first, the oldest of them first; then the newest of the others.
    pub items: Vec<NeedsYou>,
    /// Whether there is more.
    pub more: bool,
    /// Identifies this answer in the next request.
    pub next: String,
}

verb!("inbox", Request => Answer, Reads, People);
