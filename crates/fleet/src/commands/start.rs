//! `fleet start`

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
    /// Run so many agents at a time [default: `runner.slots`, else one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) slots: Option<u32>,
}

impl Start {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let answer = context.call(Request { slots: self.slots }).await?;
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
