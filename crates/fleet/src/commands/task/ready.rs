use clap::Args;
use fleet_api::verbs::task_ready::Request;

use super::super::Context;
use super::rows;
use crate::Done;

/// List tasks that could start now, in order
///
/// A queued task is ready when its dependencies are done and its time has come. Limits on concurrent agents, paused
/// accounts and file scopes are checked when a task starts, not here.
#[derive(Debug, Args)]
#[command(display_order = 30)]
pub(crate) struct Ready {
    #[command(flatten)]
    request: Request,
}

impl Ready {
    pub(crate) async fn run(self, context: &Context) -> Done {
        list_ready(context, self.request).await
    }
}

pub(in crate::commands) async fn list_ready(context: &Context, request: Request) -> Done {
    let all_projects = request.all_projects;
    let list = context.call(request).await?;
    context.start_missed_runner().await;
    rows::show(
        context,
        &list,
        all_projects,
        "nothing is ready; `fleet task list` shows what is waiting and why",
    )
}
