//! `fleet task retry`

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
    /// The tasks: all of them change, or none
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

impl Retry {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let tasks = context.call(Request { ids: self.ids }).await?.tasks;
        context.work_was_queued().await;
        moved(context, &tasks)
    }
}
