use clap::Args;
use fleet_api::verbs::task_hold::Request;

use super::super::Context;
use super::moved;
use crate::Done;

/// Put tasks aside
#[derive(Debug, Args)]
#[command(display_order = 100)]
pub(crate) struct Hold {
    #[command(flatten)]
    request: Request,
}

impl Hold {
    pub(crate) async fn run(self, context: &Context) -> Done {
        moved(context, &context.call(self.request).await?.tasks)
    }
}
