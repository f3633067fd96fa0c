use crate::prelude::*;
use crate::views::TaskList;

/// Lists the tasks that could start now, in the order in which they are served.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Only tasks with this label; repeated: with all of them
    #[arg(short, long = "label", value_name = "LABEL", value_delimiter = ',')]
    pub labels: Vec<String>,
    /// The tasks of every repository
    #[arg(short = 'A', long)]
    pub all_projects: bool,
    /// Show at most N [default: `tasks.list_limit`, 50]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub limit: Option<u32>,
}

verb!("task.ready", Request => TaskList, Reads, Project);
