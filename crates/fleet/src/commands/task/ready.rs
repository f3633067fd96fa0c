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
    #[command(flatten)]
    request: Request,
}

impl Ready {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let all_projects = self.request.all_projects;
        let list = context.call(self.request).await?;
        context.start_missed_runner().await;
        rows::show(
            context,
            &list,
            all_projects,
            "nothing is ready; `fleet task list` shows what is waiting and why",
        )
    }
}
