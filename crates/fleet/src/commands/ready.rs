use clap::Args;
use fleet_api::verbs::task_ready::Request;

use super::{Context, task};
use crate::Done;

/// List tasks that could start now: `fleet task ready`
#[derive(Debug, Args)]
#[command(hide = true)]
pub(crate) struct Ready {
    #[command(flatten)]
    request: Request,
}

impl Ready {
    pub(crate) async fn run(self, context: &Context) -> Done {
        task::list_ready(context, self.request).await
    }
}
