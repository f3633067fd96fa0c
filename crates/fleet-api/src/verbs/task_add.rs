use crate::TaskFields;
use crate::prelude::*;
use crate::verbs::task_similar::Similar;
use crate::views::{ExistingBranchView, TaskView};

/// Adds a task to the queue of a project. It is on disk when this returns.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The title
    pub title: String,
    /// A label; may be repeated
    #[arg(short, long = "label", value_name = "LABEL", value_delimiter = ',')]
    pub labels: Vec<String>,
    /// Start it only after this task is done, and from its work; may be repeated
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub after: Vec<String>,
    /// Everything else that is said about it.
    #[command(flatten)]
    #[serde(flatten)]
    pub fields: TaskFields,
    /// Add it on hold, until `fleet task release`
    #[arg(long)]
    pub hold: bool,
    /// Do not add it if there is a near-duplicate with at least this score, from 0 to 1 [default: 0.7]
    #[arg(long = "unless-similar", value_name = "SCORE", num_args = 0..=1, require_equals = true, default_missing_value = "0.7")]
    #[serde(serialize_with = "crate::score::finite")]
    pub threshold: Option<f64>,
    /// What to do about tasks that say nearly the same.
    #[arg(skip)]
    pub duplicates: Duplicates,
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
    /// Near-duplicates that are not cancelled, the closest first.
    pub similar: Vec<Similar>,
    /// Who does it, chosen or configured.
    pub agent: String,
    /// Whether its agent can be started here; otherwise the task waits for one.
    pub agent_is_here: bool,
    /// Its branch, if that existed before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub existing_branch: Option<ExistingBranchView>,
}

verb!("task.add", Request => Answer, Adds, Own, |request| {
    request.after.iter_mut().map(Subject::Neighbour).collect()
});
