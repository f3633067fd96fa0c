//! `fleet task dep add`

use clap::Args;
use fleet_api::verbs::task_dep_add::Request;

use super::super::moved;
use crate::Done;
use crate::commands::Context;

/// Make a task wait for others
#[derive(Debug, Args)]
#[command(display_order = 10)]
pub(crate) struct Add {
    /// The task that waits
    id: String,
    /// The tasks that come first
    #[arg(required = true, value_name = "ON")]
    on: Vec<String>,
}

impl Add {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self { id, on } = self;
        let task = context.call(Request { id, on }).await?;
        moved(context, &[task])
    }
}
