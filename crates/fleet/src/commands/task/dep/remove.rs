use clap::Args;
use fleet_api::verbs::task_dep_remove::Request;

use super::super::moved;
use crate::Done;
use crate::commands::Context;

/// Make a task wait for others no longer
#[derive(Debug, Args)]
#[command(display_order = 20, visible_alias = "rm")]
pub(crate) struct Remove {
    #[command(flatten)]
    request: Request,
}

impl Remove {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let task = context.call(self.request).await?;
        context.work_was_queued().await;
        moved(context, &[task])
    }
}
