//! `workflow.list`

use std::collections::BTreeMap;

use fleet_core::id::{ProjectId, WorkflowId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verb::verb;
use crate::views::WorkflowView;

/// Lists workflows, the newest first. An agent sees those that come from its own task.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Only in these states; empty is all that are not over.
    pub states: Vec<String>,
    /// Those that are over, too.
    pub all: bool,
    /// Of every project instead of the directory's.
    pub all_projects: bool,
    /// So many at most; what is configured, if left out.
    pub limit: Option<u32>,
    /// Only those older than this one: `next` of the page before.
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
