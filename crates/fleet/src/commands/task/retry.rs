//! `fleet task retry`

use clap::Args;
use fleet_core::task::TaskMove;
use fleet_engine::verbs::task_move::{self, Request};

use super::super::Context;
use super::moved;
use crate::Done;

/// Queue failed, cancelled, held or waiting tasks again, with a clean record
///
/// Earlier failures no longer count, and a waiting time is over. Tasks that wait for it can start again once it is
/// done.
#[derive(Debug, Args)]
pub(crate) struct Retry {
    /// The tasks: all of them change, or none
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

impl Retry {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let request = Request { ids: self.ids, event: TaskMove::Retry, remark: None };
        let tasks = task_move::run(&context.engine, request).await?;
        context.work_was_queued();
        moved(context, &tasks)
    }
}
