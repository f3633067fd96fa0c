//! `fleet task ready`

use clap::Args;
use fleet_api::verbs::task_ready::Request;

use super::super::Context;
use super::rows;
use crate::Done;

/// List the tasks that could start now, in the order of service
///
/// Ready is a queued task whose dependencies are done and whose time has come. Caps on how many may run at once,
/// paused agents and file scopes are looked at when a task is started, not here.
#[derive(Debug, Args)]
#[command(display_order = 30)]
pub(crate) struct Ready {
    /// Only tasks with this label; repeated: with all of them
    #[arg(short, long = "label", value_name = "LABEL", value_delimiter = ',')]
    labels: Vec<String>,
    /// The tasks of every repository
    #[arg(short = 'A', long)]
    all_projects: bool,
    /// Show so many at most [default: `tasks.list_limit`, 50]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    limit: Option<u32>,
}

impl Ready {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self { labels, all_projects, limit } = self;
        let request = Request { labels, all_projects, limit };
        let list = context.call(request).await?;
        context.start_missed_runner().await;
        rows::show(
            context,
            &list,
            all_projects,
            "nothing is ready; `fleet task list` shows what is waiting and why",
        )
    }
}
