//! What waits for a person.

use crate::prelude::*;
use crate::views::QuestionView;

/// A task that does not continue without a person.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "docs/json.md describes each field")]
pub struct NeedsYou {
    pub task: TaskId,
    pub title: String,
    pub branch: String,
    pub status: String,
    pub why: String,
    pub next: String,
    /// Since when.
    #[serde(default)]
    pub since: Option<Moment>,
    /// What its agent asks, if it is a question.
    #[serde(default)]
    pub question: Option<QuestionView>,
}
