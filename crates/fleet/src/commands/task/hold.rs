//! `fleet task hold`

use clap::Args;
use fleet_api::verbs::task_hold::Request;

use super::super::Context;
use super::moved;
use crate::Done;

/// Put tasks aside
#[derive(Debug, Args)]
#[command(display_order = 100)]
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
        let Self { ids, remark } = self;
        moved(context, &context.call(Request { ids, remark }).await?.tasks)
    }
}
