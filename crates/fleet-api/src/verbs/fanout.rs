use crate::prelude::*;
use crate::verbs::create::JobOptions;
use crate::views::Launched;

/// Adds several tasks with the same prompt, each on its own branch: all of them, or none.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// How many, from 1 to 100.
    pub copies: usize,
    /// Prefix of the branch names; made from the prompt, if left out.
    pub prefix: Option<String>,
    /// What is to be done.
    pub prompt: String,
    /// Who does it, in turn; the configured agent, if empty.
    #[serde(default)]
    pub agents: Vec<String>,
    /// Which model they use.
    pub model: Option<String>,
    /// What holds for all.
    #[serde(default)]
    pub wishes: JobOptions,
}

verb!("fanout", Request => Launched, Adds, Own);
