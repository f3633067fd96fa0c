//! `fleet task hold`

use clap::Args;
use fleet_core::task::TaskMove;
use fleet_engine::verbs::task_move::{self, Request};

use super::super::Context;
use super::moved;
use crate::Done;

/// Put tasks aside
#[derive(Debug, Args)]
pub(crate) struct Hold {
    /// The tasks: all of them change, or none
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Why, for whoever looks later
    #[arg(short = 'm', long, value_name = "TEXT")]
    remark: Option<String>,
}

impl Hold {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let request = Request { ids: self.ids, event: TaskMove::Hold, remark: self.remark };
        moved(context, &task_move::run(&context.engine, request).await?)
    }
}
