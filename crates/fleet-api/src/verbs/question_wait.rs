use crate::prelude::*;
use crate::views::QuestionView;

/// Shows a question of the agent's own task, and waits for its answer. The agent's time does not count meanwhile.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The id of the question.
    pub id: String,
    /// How long to wait while it is open; not at all, if left out.
    pub wait_seconds: Option<u32>,
}

verb!("question.wait", Request => QuestionView, Reads, Agents);
