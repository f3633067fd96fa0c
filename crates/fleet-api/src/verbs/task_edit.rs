//! `task.edit`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Subject;
use crate::verb::verb;
use crate::views::TaskView;

/// Changes what the author of a task decided. What is left out or empty stays as it is.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The task.
    pub id: String,
    /// What is to be done, in one line.
    pub title: Option<String>,
    /// All that its agent has to know.
    pub description: Option<String>,
    /// From 1 to 5; 5 is served first.
    pub priority: Option<i64>,
    /// Words to find it by, beside those that it has.
    pub add_labels: Vec<String>,
    /// Words that it loses.
    pub remove_labels: Vec<String>,
    /// Patterns of the files that it will touch: replaces all that were there.
    pub scope: Vec<String>,
    /// `trivial`, `small`, `medium`, `large` or `xl`.
    pub complexity: Option<String>,
    /// Who does it.
    pub agent: Option<String>,
    /// The model that its agent uses.
    pub model: Option<String>,
    /// The commit, branch or tag that it starts from.
    pub base: Option<String>,
    /// The branch that its work goes to.
    pub branch: Option<String>,
    /// `time=30m`, `idle=10m`, `tokens=200k`, `usd=2.50`, or e.g. `usd=none`.
    pub limits: Vec<String>,
    /// How often a failed run is tried again.
    pub retries: Option<u32>,
    /// A span from now, a time of day, a date, or RFC 3339.
    pub not_before: Option<String>,
    /// `KEY=VALUE`; `KEY=` takes one away.
    pub meta: Vec<String>,
    /// It is only to look from now on.
    pub read_only: bool,
    /// Fields to empty: `description`, `labels`, `scope`, `complexity`, `agent`, `model`, `base`, `branch`, `limits`,
    /// `not-before`, `meta`, `batch`, `read-only`.
    pub clear: Vec<String>,
}

/// The task as it is now, and what changed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The task.
    #[serde(flatten)]
    pub task: TaskView,
    /// The names of the fields that are different now.
    pub changed: Vec<String>,
}

verb!("task.edit", Request => Answer, Adds, Own, |request| vec![Subject::Task(&mut request.id)]);
