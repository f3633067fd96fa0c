use clap::Args;
use fleet_api::verbs::workflow_retry::Request;

use super::super::Context;
use super::ending;
use crate::Done;

/// Retry what failed, was cancelled, or was skipped because of that
///
/// Stages that are done stay done, and a retried stage continues from the work on its branch. With --from, that stage
/// and everything that builds on it run again from the beginning, on new branches.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 80)]
pub(crate) struct Retry {
    #[command(flatten)]
    request: Request,
    /// Detach: return as soon as it is queued
    #[arg(short, long)]
    detach: bool,
}

const EXAMPLES: &str = "Examples:
  fleet workflow retry w0skybd1
  fleet workflow retry release --from review";

impl Retry {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let retried = context.call(self.request).await?;
        ending::see(context, &retried, self.detach).await
    }
}
