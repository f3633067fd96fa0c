use crate::prelude::*;

/// Shows, once per agent, what it may do without asking.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The agents; null is the one for tasks that name none.
    pub agents: Vec<Option<String>>,
}

/// What to show to people. It counts as shown.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// A paragraph for each agent that was not introduced yet.
    pub notices: Vec<String>,
}

verb!("agents.notice", Request => Answer, Adds, All);
