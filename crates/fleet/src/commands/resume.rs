//! `fleet resume`

use clap::Args;
use fleet_api::verbs::resume::Request;

use super::Context;
use super::launching::{Stay, see};
use crate::Done;

/// Take up tasks again that failed, were cancelled, or wait, and follow them
///
/// They are queued with a clean record, and go on with the work that is on their branches.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 170)]
pub(crate) struct Resume {
    /// The tasks, by id, branch, or the id of a run: all of them are taken up, or none
    #[arg(value_name = "ID", required_unless_present = "batch")]
    ids: Vec<String>,
    /// All tasks of this batch that are not done and not on their way
    #[arg(long, value_name = "ID")]
    batch: Option<String>,
    /// Do not follow them: answer as soon as they are queued
    #[arg(short, long)]
    detach: bool,
}

const EXAMPLES: &str = "Examples:
  fleet resume fix-login
  fleet task edit t0skybd1r --file better-prompt.md && fleet resume t0skybd1r
  fleet resume --batch s0sm8gkc13hs7fr --detach";

impl Resume {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let request = Request { ids: self.ids, batch: self.batch };
        let resumed = context.call(request).await?;
        see(context, resumed, if self.detach { Stay::Not } else { Stay::ToTheEnd }).await
    }
}
