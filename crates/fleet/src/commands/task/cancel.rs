use clap::Args;
use fleet_api::verbs::task_cancel::Request;

use super::super::Context;
use super::moved;
use crate::Done;

/// Cancel tasks
///
/// A running task is stopped. Tasks that wait for a cancelled one do not start until it is retried or the
/// dependency is removed.
#[derive(Debug, Args)]
#[command(display_order = 120)]
pub(crate) struct Cancel {
    #[command(flatten)]
    request: Request,
}

impl Cancel {
    pub(crate) async fn run(self, context: &Context) -> Done {
        moved(context, &context.call(self.request).await?.tasks)
    }
}
