use clap::Args;
use fleet_api::verbs::task_list::Request;

use super::super::Context;
use super::rows;
use crate::Done;

/// List tasks: running ones and those that need you first, then the queue in order
#[derive(Debug, Args)]
#[command(visible_alias = "ls", after_help = EXAMPLES)]
#[command(display_order = 20)]
pub(crate) struct List {
    #[command(flatten)]
    request: Request,
}

const EXAMPLES: &str = "Examples:
  fleet task list --status failed,waiting
  fleet task list --all-projects --label release
  fleet task list --json | jq -r '.tasks[].title'";

impl List {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let request = self.request;
        let narrowed = !request.statuses.is_empty() || !request.labels.is_empty() || request.batch.is_some();
        let (all, all_projects) = (request.all, request.all_projects);
        let list = context.call(request).await?;
        context.start_missed_runner().await;
        let empty = match (narrowed, all) {
            (true, _) => "no task matches; `fleet task list` shows all open tasks",
            (false, true) => "no tasks yet; `fleet task add \"…\"` adds one",
            (false, false) => {
                "nothing to do; `fleet task add \"…\"` adds a task, `fleet task list --all` shows finished ones"
            }
        };
        rows::show(context, &list, all_projects, empty)
    }
}
