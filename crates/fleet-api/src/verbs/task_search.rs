use crate::prelude::*;
use crate::views::TaskView;

/// Searches tasks; best match first.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Only these: queued, running, waiting, held, done, failed, cancelled, ready, blocked, scheduled; may be repeated [default: all but done and cancelled]
    #[arg(short, long = "status", value_name = "STATUS", value_delimiter = ',')]
    pub statuses: Vec<String>,
    /// Only tasks with this label; repeated: with all of them
    #[arg(short, long = "label", value_name = "LABEL", value_delimiter = ',')]
    pub labels: Vec<String>,
    /// The tasks of every repository
    #[arg(short = 'A', long)]
    pub all_projects: bool,
    /// Show at most N [default: `tasks.list_limit`, 50]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub limit: Option<u32>,
    /// Continue an earlier answer: its `next_cursor`
    #[arg(long, value_name = "CURSOR")]
    pub cursor: Option<String>,
    /// Words, beginnings of words, or paths; empty is everything, in the order of service.
    #[arg(skip)]
    pub query: String,
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
