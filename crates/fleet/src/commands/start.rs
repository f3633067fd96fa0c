use clap::Args;
use fleet_api::verbs::runner_start::Request;

use super::Context;
use crate::Done;
use crate::output::{count, strong};

/// Start the runner in the background
///
/// Commands that queue work start it by themselves; `autostart = false` in the configuration stops that.
#[derive(Debug, Args)]
#[command(display_order = 200)]
pub(crate) struct Start {
    #[command(flatten)]
    request: Request,
}

impl Start {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let answer = context.call(self.request).await?;
        let runner = &answer.runner;
        context.output.show(&answer, || {
            let what = if answer.started { "is up" } else { "was up already" };
            let slots = count(runner.slots as usize, "slot");
            format!(
                "runner {} {what} with {slots}; `fleet status` shows it, `fleet stop` ends it",
                strong(&runner.name)
            )
        })
    }
}
