use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verb::verb;
use crate::views::Launched;

/// Requeues failed, cancelled or waiting tasks; they continue from the work on their branches.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The tasks, by id, branch, or the id of a run: all or none are resumed
    #[arg(value_name = "ID", required_unless_present = "batch")]
    pub ids: Vec<String>,
    /// All tasks of this batch that are neither done, queued nor running
    #[arg(long, value_name = "ID")]
    pub batch: Option<String>,
}

verb!("resume", Request => Launched, Adds, Own);
