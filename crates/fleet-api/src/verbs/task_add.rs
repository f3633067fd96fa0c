use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Subject;
use crate::verb::verb;
use crate::verbs::task_similar::Similar;
use crate::views::TaskView;

/// Adds a task to the queue of a project. It is durable when this is answered.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// What is to be done, in one line
    pub title: String,
    /// How urgent: 5 is served first, 1 last [default: `tasks.priority`, 3]
    #[arg(short, long, value_name = "1-5", allow_negative_numbers = true)]
    pub priority: Option<i64>,
    /// A word to find it by; may be repeated
    #[arg(short, long = "label", value_name = "LABEL", value_delimiter = ',')]
    pub labels: Vec<String>,
    /// Files that it will touch: tasks whose scopes overlap never run together; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub scope: Vec<String>,
    /// Start it only after this task is done; may be repeated
    #[arg(long, value_name = "ID")]
    pub after: Vec<String>,
    /// Which agent does it [default: `agent`]
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// Which model the agent uses [default: `agents.AGENT.model`]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Where the work starts: a branch, tag or commit [default: HEAD when it starts]
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// The branch that the work goes to [default: made from the id]
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,
    /// What a run may use at most: time=30m, idle=10m, tokens=200k, usd=2.50; may be repeated
    #[arg(long = "limit", value_name = "LIMIT")]
    pub limits: Vec<String>,
    /// How often a failed run is tried again [default: `tasks.retries`, 2]
    #[arg(long, value_name = "N")]
    pub retries: Option<u32>,
    /// Do not start it earlier: 2h (from now), 14:30, 2026-12-24, or RFC 3339
    #[arg(long, value_name = "TIME")]
    pub not_before: Option<String>,
    /// How big it is: trivial, small, medium, large, xl
    #[arg(long, value_name = "SIZE")]
    pub complexity: Option<String>,
    /// Anything you want to keep with it; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub meta: Vec<String>,
    /// It is only to look: nothing has to change for it to be done
    #[arg(long)]
    pub read_only: bool,
    /// Add it, but do not start it before `fleet task release`
    #[arg(long)]
    pub hold: bool,
    /// Do not add it if there is a task that says nearly the same: as alike as this, from 0 to 1 [default: 0.7]
    #[arg(long = "unless-similar", value_name = "SCORE", num_args = 0..=1, require_equals = true, default_missing_value = "0.7")]
    #[serde(serialize_with = "crate::score::finite")]
    pub threshold: Option<f64>,
    /// All that its agent has to know.
    #[arg(skip)]
    pub description: Option<String>,
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
