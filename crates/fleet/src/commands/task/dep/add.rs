use clap::Args;
use fleet_api::verbs::task_dep_add::Request;

use super::super::moved;
use crate::Done;
use crate::commands::Context;

/// Make a task wait for others
#[derive(Debug, Args)]
#[command(display_order = 10)]
pub(crate) struct Add {
    #[command(flatten)]
    request: Request,
}

impl Add {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let task = context.call(self.request).await?;
        moved(context, &[task])
    }
}
