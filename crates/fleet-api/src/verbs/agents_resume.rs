use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verb::verb;
use crate::verbs::agents_pause::Answer;

/// Lets tasks start again with the account of an agent.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The agent
    #[arg(value_name = "NAME")]
    pub agent: String,
}

verb!("agents.resume", Request => Answer, Ends, People);
