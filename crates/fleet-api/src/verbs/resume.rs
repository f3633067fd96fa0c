use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verb::verb;
use crate::views::Launched;

/// Queues tasks again that failed, were cancelled, or wait; they go on with the work that is on their branches.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The tasks, by id, branch, or the id of a run: all of them are taken up, or none
    #[arg(value_name = "ID", required_unless_present = "batch")]
    pub ids: Vec<String>,
    /// All tasks of this batch that are not done and not on their way
    #[arg(long, value_name = "ID")]
    pub batch: Option<String>,
}

verb!("resume", Request => Launched, Adds, Own);
