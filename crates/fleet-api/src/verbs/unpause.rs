use crate::prelude::*;
use crate::verbs::pause::Answer;

/// Lifts a pause of the queue.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The pause of this agent
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// The pause of the project of the directory.
    #[arg(skip)]
    pub this_project: bool,
}

verb!("unpause", Request => Answer, Adds, People);
