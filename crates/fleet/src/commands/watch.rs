use clap::Args;
use fleet_api::verbs::run_list::Request;

use super::{Context, list};
use crate::Done;

/// Watch agents and the queue, until q or Ctrl-C
///
/// The same as `fleet list --watch`: one table of running, waiting and queued work, with its id and branch.
#[derive(Debug, Args)]
#[command(display_order = 71)]
pub(crate) struct Watch {
    #[command(flatten)]
    request: Request,
}

impl Watch {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self { request } = self;
        list::keep_watching(context, request).await
    }
}
