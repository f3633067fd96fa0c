use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Moment;
use crate::verb::verb;

/// Lets no task start with the account of an agent for a while.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The agent.
    pub agent: String,
    /// For how long.
    pub seconds: u64,
    /// Why, for people who wonder.
    pub why: String,
}

/// What was done.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The account.
    pub account: String,
    /// Until when it takes no work; null if it takes work.
    pub paused_until: Option<Moment>,
    /// Whether anything changed: a pause is never made shorter, and what is not paused cannot be resumed.
    pub changed: bool,
}

verb!("agents.pause", Request => Answer, Adds, People);
