use clap::Args;
use fleet_api::verbs::task_release::Request;

use super::super::Context;
use super::moved;
use crate::Done;

/// Take held tasks up again
#[derive(Debug, Args)]
#[command(display_order = 110)]
pub(crate) struct Release {
    #[command(flatten)]
    request: Request,
}

impl Release {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let tasks = context.call(self.request).await?.tasks;
        context.work_was_queued().await;
        moved(context, &tasks)
    }
}
