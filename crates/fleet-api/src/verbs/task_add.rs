//! `task.add`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Subject;
use crate::verb::verb;
use crate::verbs::task_similar::Similar;
use crate::views::TaskView;

/// Adds a task to the queue of a project. It is durable when this is answered.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// What is to be done, in one line.
    pub title: String,
    /// All that its agent has to know.
    pub description: Option<String>,
    /// From 1 to 5; 5 is served first.
    pub priority: Option<i64>,
    /// Words to find it by.
    pub labels: Vec<String>,
    /// Patterns of the files that it will touch.
    pub scope: Vec<String>,
    /// `trivial`, `small`, `medium`, `large` or `xl`.
    pub complexity: Option<String>,
    /// Ids, or the beginnings of ids, of tasks that come first.
    pub after: Vec<String>,
    /// Who does it.
    pub agent: Option<String>,
    /// The model that its agent uses.
    pub model: Option<String>,
    /// The commit, branch or tag that it starts from.
    pub base: Option<String>,
    /// The branch that its work goes to.
    pub branch: Option<String>,
    /// `time=30m`, `idle=10m`, `tokens=200k`, `usd=2.50`.
    pub limits: Vec<String>,
    /// How often a failed run is tried again.
    pub retries: Option<u32>,
    /// A span from now, a time of day, a date, or RFC 3339.
    pub not_before: Option<String>,
    /// `KEY=VALUE`.
    pub meta: Vec<String>,
    /// It is only to look.
    pub read_only: bool,
    /// Add it, but do not start it before somebody releases it.
    pub hold: bool,
    /// What to do about tasks that say nearly the same.
    pub duplicates: Duplicates,
    /// How alike they are at least, from 0 to 1.
    #[serde(serialize_with = "crate::score::finite")]
    pub threshold: Option<f64>,
}

/// What to do about tasks that say nearly the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Duplicates {
    /// Add nothing if there is one.
    Refuse,
    /// Add the task, and name them.
    Name,
    /// Do not look.
    #[default]
    Ignore,
}

/// What was added.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The new task; nothing, if there was one like it.
    pub task: Option<TaskView>,
    /// Those that say nearly the same and are not cancelled, the most alike first.
    pub similar: Vec<Similar>,
    /// Who does it, chosen or configured.
    pub agent: String,
    /// Whether its agent can be started here; otherwise the task waits for one.
    pub agent_is_here: bool,
}

verb!("task.add", Request => Answer, Adds, Own, |request| {
    request.after.iter_mut().map(Subject::Neighbour).collect()
});
