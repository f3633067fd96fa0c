use crate::prelude::*;
use crate::views::TaskList;

/// Lists tasks, status by status, each in the order in which they are served.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Only these: queued, running, waiting, held, done, failed, cancelled, ready, blocked, scheduled; may be repeated
    #[arg(short, long = "status", value_name = "STATUS", value_delimiter = ',')]
    pub statuses: Vec<String>,
    /// Include done and cancelled tasks
    #[arg(short, long, conflicts_with = "statuses")]
    pub all: bool,
    /// Only tasks with this label; repeated: with all of them
    #[arg(short, long = "label", value_name = "LABEL", value_delimiter = ',')]
    pub labels: Vec<String>,
    /// Only the tasks of this batch, in any repository
    #[arg(long, value_name = "ID")]
    pub batch: Option<String>,
    /// The tasks of every repository
    #[arg(short = 'A', long)]
    pub all_projects: bool,
    /// Show at most N [default: `tasks.list_limit`, 50]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub limit: Option<u32>,
}

verb!("task.list", Request => TaskList, Reads, Project);
