use clap::Args;
use fleet_api::verbs::task_retry::Request;

use super::super::Context;
use super::moved;
use crate::Done;

/// Queue failed, cancelled, held or waiting tasks again, with a clean record
///
/// Earlier failures no longer count, and a waiting time is over. Tasks that wait for it can start again once it is
/// done.
#[derive(Debug, Args)]
#[command(display_order = 130)]
pub(crate) struct Retry {
    #[command(flatten)]
    request: Request,
}

impl Retry {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let tasks = context.call(self.request).await?.tasks;
        context.work_was_queued().await;
        moved(context, &tasks)
    }
}
