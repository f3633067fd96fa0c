use clap::Args;
use fleet_api::verbs::workflow_retry::Request;
use fleet_core::text::escaped;

use super::super::Context;
use super::super::launching::wake;
use super::ending;
use crate::Done;
use crate::follow::follow_workflow;
use crate::output::{dim, paint_status, strong};

/// Try again what failed, was cancelled, or was skipped because of that
///
/// Stages that are done stay done, and a stage that is tried again goes on with the work on its branch. With --from, that
/// stage and all that build on it are done once more from the beginning, on new branches.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 80)]
pub(crate) struct Retry {
    #[command(flatten)]
    request: Request,
    /// Do not follow it: answer as soon as it is queued
    #[arg(short, long)]
    detach: bool,
}

const EXAMPLES: &str = "Examples:
  fleet workflow retry w0skybd1
  fleet workflow retry release --from review";

impl Retry {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let retried = context.call(self.request).await?;
        wake(context).await;
        let workflow = &retried.workflow;
        if self.detach {
            return context.output.show(&retried, || {
                let state = paint_status(workflow.state.as_str());
                format!("{}  {state}  {}", strong(workflow.id.as_str()), escaped(&workflow.name))
            });
        }
        context.output.note(&dim(&format!("workflow {}  {}", workflow.id, escaped(&workflow.name))));
        let (seen, end) = follow_workflow(context, workflow.id).await?;
        ending::conclude(context, &seen, end).await
    }
}
