//! `task.search`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verb::verb;
use crate::views::TaskView;

/// Searches the queue: the tasks that have what was asked for, the best first.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Words, beginnings of words, or paths; empty is everything, in the order of service.
    pub query: String,
    /// States or derived statuses; empty is everything that is not over.
    pub statuses: Vec<String>,
    /// Only those with all of these.
    pub labels: Vec<String>,
    /// Of every project instead of the directory's.
    pub all_projects: bool,
    /// So many at most; what is configured, if left out.
    pub limit: Option<u32>,
    /// Go on where an earlier answer ended: its `next_cursor`.
    pub cursor: Option<String>,
}

/// A task that was found.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Hit {
    /// The task.
    #[serde(flatten)]
    pub task: TaskView,
    /// From 0 to 1: how much of what was searched for it has, and at how good a place; null if nothing was.
    pub score: Option<f64>,
    /// The words and paths that were found.
    pub matched: Vec<String>,
}

/// The tasks that were found.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The best first, then in the order of service.
    pub tasks: Vec<Hit>,
    /// For the next part of the answer; null at its end.
    pub next_cursor: Option<String>,
    /// How many tasks were looked at.
    pub looked_at: usize,
    /// Whether there are older ones that were not.
    pub more: bool,
}

verb!("task.search", Request => Answer, Reads, Project);
