//! `task.list`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verb::verb;
use crate::views::TaskList;

/// Lists tasks, status by status, each in the order in which they are served.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// States or derived statuses; empty is everything that is not over.
    pub statuses: Vec<String>,
    /// Done and cancelled ones, too.
    pub all: bool,
    /// Only those with all of these.
    pub labels: Vec<String>,
    /// Only those of this batch, of whatever project.
    pub batch: Option<String>,
    /// Of every project instead of the directory's.
    pub all_projects: bool,
    /// So many at most; what is configured, if left out.
    pub limit: Option<u32>,
}

verb!("task.list", Request => TaskList, Reads, Project);
