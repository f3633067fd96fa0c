use crate::prelude::*;

/// Says that the agent of this run has the answer to its question: no later run is told again.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The id of the question.
    pub id: String,
}

/// What was noted.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Whether that was news.
    pub noted: bool,
}

verb!("question.receive", Request => Answer, Adds, Agents);
