use crate::prelude::*;
use crate::verbs::agents_pause::Answer;

/// Resumes an agent's account.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The agent
    #[arg(value_name = "NAME")]
    pub agent: String,
}

verb!("agents.resume", Request => Answer, Ends, People);
