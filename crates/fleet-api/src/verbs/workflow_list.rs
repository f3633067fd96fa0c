use fleet_core::id::{ProjectId, WorkflowId};
use std::collections::BTreeMap;

use crate::prelude::*;
use crate::views::WorkflowView;

/// Lists workflows, the newest first. An agent sees those that come from its own task.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Only these: running, cancelling, succeeded, failed, cancelled; may be repeated
    #[arg(short, long = "state", value_name = "STATE", value_delimiter = ',')]
    pub states: Vec<String>,
    /// Include finished ones
    #[arg(short, long, conflicts_with = "states")]
    pub all: bool,
    /// The workflows of every repository
    #[arg(short = 'A', long)]
    pub all_projects: bool,
    /// Show at most N [default: `tasks.list_limit`, 50]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub limit: Option<u32>,
    /// Only those that are older than this one: the next page
    #[arg(long, value_name = "ID")]
    pub before: Option<String>,
}

/// Some workflows, the newest first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The workflows.
    pub workflows: Vec<WorkflowView>,
    /// If there are more: the one before which they come.
    pub next: Option<WorkflowId>,
    /// The names of their projects.
    pub projects: BTreeMap<ProjectId, String>,
}

verb!("workflow.list", Request => Answer, Reads, Own);
