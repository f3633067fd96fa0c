use crate::prelude::*;
use crate::verbs::agents_list::AgentView;

/// Shows everything about one agent.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The agent
    #[arg(value_name = "NAME")]
    pub agent: String,
}

/// An agent with all that there is to know about it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// As lists show it.
    #[serde(flatten)]
    pub agent: AgentView,
    /// What each trust means for it, from the least to the most.
    pub trust_levels: Vec<TrustLevel>,
    /// How hard the model should think.
    pub effort: Option<String>,
    /// Arguments of the user.
    pub args: Vec<String>,
    /// Whether there are standing orders.
    pub system_prompt: bool,
    /// The file with tool servers.
    pub mcp: Option<String>,
    /// Whether its last answer is held to a schema.
    pub structured: bool,
    /// How many tokens its model can hold, as far as the user says so.
    pub context_limit: Option<u64>,
    /// The agents that may continue its tasks.
    pub fallback: Vec<String>,
    /// How to get it.
    pub install: String,
    /// How to log in.
    pub login_help: String,
}

/// One trust, in words.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TrustLevel {
    /// The word for the configuration.
    pub trust: String,
    /// What it means for this agent.
    pub means: String,
    /// What keeps it to that: `none`, `tools` or `sandbox`.
    pub enforced: String,
    /// Whether it is in force.
    pub chosen: bool,
}

verb!("agents.show", Request => Answer, Reads, All);
