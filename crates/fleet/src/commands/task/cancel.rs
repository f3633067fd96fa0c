//! `fleet task cancel`

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
    /// The tasks: all of them change, or none
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Why, for whoever looks later
    #[arg(short = 'm', long, value_name = "TEXT")]
    remark: Option<String>,
}

impl Cancel {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self { ids, remark } = self;
        moved(context, &context.call(Request { ids, remark }).await?.tasks)
    }
}
