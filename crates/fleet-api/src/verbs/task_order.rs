use std::collections::BTreeMap;

use crate::prelude::*;
use crate::views::ObstacleView;

/// Shows the best order of a project's open tasks, the longest chain and the bottlenecks.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Only these tasks and what they wait for
    #[arg(value_name = "ID")]
    pub tasks: Vec<String>,
}

/// A task in its place.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OrderedTask {
    /// Its id.
    pub id: TaskId,
    /// What it is called.
    pub title: String,
    /// Its state.
    pub status: String,
    /// How urgent it is.
    pub priority: i64,
    /// Open tasks that it waits for directly.
    pub after: Vec<TaskId>,
    /// How many open tasks must be done before it, one after the other: tasks of one level could run together.
    pub level: usize,
    /// How many open tasks wait for it, directly or not.
    pub unblocks: usize,
    /// Whether it is part of the longest chain.
    pub critical: bool,
    /// What blocks it, if it waits for others.
    pub obstacle: Option<ObstacleView>,
}

/// A dependency that seems to be missing.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Suggestion {
    /// The task that should perhaps wait.
    pub task: TaskId,
    /// For which.
    pub on: TaskId,
    /// Why, in one sentence.
    pub why: String,
}

/// The open tasks as a whole.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// In an order in which they could be done one after the other, as they are served.
    pub order: Vec<OrderedTask>,
    /// The chain that takes longest, first task first: more agents cannot finish sooner.
    pub critical_path: Vec<TaskId>,
    /// How much work that is: a task counts 1 if it is trivial, 2 small, 4 medium or unknown, 8 large, 16 xl.
    pub critical_size: u32,
    /// How many tasks are in each status.
    pub by_status: BTreeMap<String, usize>,
    /// Tasks that start only when a person acts, because what they wait for failed, was cancelled or is held.
    pub stuck: Vec<TaskId>,
    /// Those that most others wait for, most first.
    pub bottlenecks: Vec<TaskId>,
    /// Dependencies that seem to be missing, the surest first.
    pub suggestions: Vec<Suggestion>,
    /// Whether there are more open tasks than were looked at.
    pub more: bool,
}

verb!("task.order", Request => Answer, Reads, Project, |request| Subject::tasks(&mut request.tasks));
