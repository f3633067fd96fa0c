use clap::Args;
use fleet_api::verbs::workflow_show::Request;

use super::super::Context;
use super::ending;
use crate::Done;
use crate::follow::follow_workflow;

/// Follow a workflow until it finishes
///
/// On a terminal the stages stay on the screen and up to date; elsewhere every change is a line. The exit status shows
/// how the workflow ended. Ctrl-C stops following; the agents keep running.
#[derive(Debug, Args)]
#[command(display_order = 60)]
pub(crate) struct Watch {
    #[command(flatten)]
    request: Request,
}

impl Watch {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let id = context.call(self.request).await?.workflow.workflow.id;
        context.tell_unattended().await;
        let (seen, end) = follow_workflow(context, id).await?;
        ending::conclude(context, &seen, end).await
    }
}
