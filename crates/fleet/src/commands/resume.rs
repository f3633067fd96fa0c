use clap::Args;
use fleet_api::verbs::resume::Request;

use super::Context;
use super::launching::{AfterLaunch, see};
use crate::Done;

/// Resume failed, cancelled or waiting tasks, and follow them
///
/// They are requeued with failures reset, and continue from the work on their branches.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 170)]
pub(crate) struct Resume {
    #[command(flatten)]
    request: Request,
    /// Detach: return as soon as they are queued
    #[arg(short, long)]
    detach: bool,
}

const EXAMPLES: &str = "Examples:
  fleet resume fix-login
  fleet task edit t0skybd1r --file better-prompt.md && fleet resume t0skybd1r
  fleet resume --batch s0sm8gkc13hs7fr --detach";

impl Resume {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let resumed = context.call(self.request).await?;
        see(context, resumed, AfterLaunch::detached(self.detach)).await
    }
}
