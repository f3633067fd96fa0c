use crate::prelude::*;

/// Answers an agent in a terminal that asks whether it may do something.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The run: its id, the id of its task, or its branch.
    pub id: String,
    /// The answer.
    pub answer: PermissionReply,
}

/// An answer to an agent that asks whether it may do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PermissionReply {
    /// It may, this time.
    Allow,
    /// It may, and what is like it, too.
    AllowAlways,
    /// It may not.
    Deny,
}

/// What was answered.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The run.
    pub run: RunId,
    /// The agent that asked.
    pub agent: String,
    /// What it asked, as far as that is known.
    pub asked: Option<String>,
    /// The answer.
    pub answer: PermissionReply,
}

verb!("run.answer", Request => Answer, Adds, People);
