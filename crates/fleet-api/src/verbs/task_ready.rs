//! `task.ready`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verb::verb;
use crate::views::TaskList;

/// Lists the tasks that could start now, in the order in which they are served.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Only those with all of these.
    pub labels: Vec<String>,
    /// Of every project instead of the directory's.
    pub all_projects: bool,
    /// So many at most; what is configured, if left out.
    pub limit: Option<u32>,
}

verb!("task.ready", Request => TaskList, Reads, Project);
