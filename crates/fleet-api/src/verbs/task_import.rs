use crate::prelude::*;

/// Imports tasks from JSON lines: all or none.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Give every task a new id, also those that come with one
    #[arg(long)]
    #[serde(default)]
    pub new_ids: bool,
    /// Check the file, change nothing
    #[arg(long)]
    #[serde(default)]
    pub dry_run: bool,
    /// One JSON object per line; empty lines are skipped.
    #[arg(skip)]
    pub text: String,
}

/// What was imported.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The new tasks, in the order of the lines.
    pub ids: Vec<TaskId>,
    /// Whether nothing was changed on purpose.
    pub dry_run: bool,
}

verb!("task.import", Request => Answer, Adds, Own);
