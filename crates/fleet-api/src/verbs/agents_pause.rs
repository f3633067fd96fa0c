use crate::prelude::*;

/// Pauses an agent's account.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The agent
    #[arg(value_name = "NAME")]
    pub agent: String,
    /// How long
    #[arg(long = "for", value_name = "TIME", default_value = "1h", value_parser = crate::seconds)]
    pub seconds: u64,
    /// Reason, shown to others
    #[arg(long, value_name = "TEXT", default_value = "paused by a user")]
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
