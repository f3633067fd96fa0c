//! `fleet task list`

use clap::Args;
use fleet_api::verbs::task_list::Request;

use super::super::Context;
use super::rows;
use crate::Done;

/// List tasks: what is at work or needs you first, then the queue in the order of service
#[derive(Debug, Args)]
#[command(visible_alias = "ls", after_help = EXAMPLES)]
#[command(display_order = 20)]
pub(crate) struct List {
    /// Only these: queued, running, waiting, held, done, failed, cancelled, ready, blocked, scheduled; may be repeated
    #[arg(short, long = "status", value_name = "STATUS", value_delimiter = ',')]
    statuses: Vec<String>,
    /// Done and cancelled tasks, too
    #[arg(short, long, conflicts_with = "statuses")]
    all: bool,
    /// Only tasks with this label; repeated: with all of them
    #[arg(short, long = "label", value_name = "LABEL", value_delimiter = ',')]
    labels: Vec<String>,
    /// Only the tasks of this batch, of whatever repository
    #[arg(long, value_name = "ID")]
    batch: Option<String>,
    /// The tasks of every repository
    #[arg(short = 'A', long)]
    all_projects: bool,
    /// Show so many at most [default: `tasks.list_limit`, 50]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    limit: Option<u32>,
}

const EXAMPLES: &str = "Examples:
  fleet task list --status failed,waiting
  fleet task list --all-projects --label release
  fleet task list --json | jq -r '.tasks[].title'";

impl List {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self { statuses, all, labels, batch, all_projects, limit } = self;
        let narrowed = !statuses.is_empty() || !labels.is_empty() || batch.is_some();
        let request = Request { statuses, all, labels, batch, all_projects, limit };
        let list = context.call(request).await?;
        context.start_missed_runner().await;
        let empty = match (narrowed, all) {
            (true, _) => "no task fits; `fleet task list` without conditions shows everything that is open",
            (false, true) => "no tasks yet; `fleet task add \"…\"` adds one",
            (false, false) => {
                "nothing to do; `fleet task add \"…\"` adds a task, `fleet task list --all` shows finished ones"
            }
        };
        rows::show(context, &list, all_projects, empty)
    }
}
