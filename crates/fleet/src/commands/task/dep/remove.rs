//! `fleet task dep remove`

use clap::Args;
use fleet_api::verbs::task_dep_remove::Request;

use super::super::moved;
use crate::Done;
use crate::commands::Context;

/// Make a task wait for others no longer
#[derive(Debug, Args)]
#[command(display_order = 20, visible_alias = "rm")]
pub(crate) struct Remove {
    /// The task that waits
    id: String,
    /// The tasks that come first
    #[arg(required = true, value_name = "ON")]
    on: Vec<String>,
}

impl Remove {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self { id, on } = self;
        let task = context.call(Request { id, on }).await?;
        context.work_was_queued().await;
        moved(context, &[task])
    }
}
