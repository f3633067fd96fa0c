use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verb::verb;

/// Tells once what people should know before agents work for them for the first time.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The agents; null is the one for tasks that name none.
    pub agents: Vec<Option<String>>,
}

/// What is to be shown to people. It counts as told.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// A paragraph for each agent that nobody was told about.
    pub notices: Vec<String>,
}

verb!("agents.notice", Request => Answer, Adds, All);
