//! `fleet task release`

use clap::Args;
use fleet_core::task::TaskMove;
use fleet_engine::verbs::task_move::{self, Request};

use super::super::Context;
use super::moved;
use crate::Done;

/// Take held tasks up again
#[derive(Debug, Args)]
pub(crate) struct Release {
    /// The tasks: all of them change, or none
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
}

impl Release {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let request = Request { ids: self.ids, event: TaskMove::Release, remark: None };
        let tasks = task_move::run(&context.engine, request).await?;
        context.work_was_queued();
        moved(context, &tasks)
    }
}
