use crate::prelude::*;

/// Passes on what a hook of an agent in a terminal was called with, so that its state is known.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// What the agent said, in its own format.
    pub payload: String,
}

/// What became of it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Whether the keeper of the run listens to hooks.
    pub taken: bool,
}

verb!("run.hook", Request => Answer, Adds, Agents);
