//! `fleet start`

use clap::Args;
use fleet_engine::runner::start_in_background;
use fleet_engine::verbs::runner_status::{RunnerView, view};
use serde::Serialize;

use super::Context;
use crate::Done;
use crate::output::{count, strong};

/// Start the runner in the background
///
/// Commands that queue work start it by themselves; `autostart = false` in the configuration stops that.
#[derive(Debug, Args)]
pub(crate) struct Start {
    /// Run so many agents at a time [default: `runner.slots`, else one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) slots: Option<u32>,
}

#[derive(Serialize)]
struct Response {
    runner: RunnerView,
    /// Whether it came up now; otherwise it was up before.
    started: bool,
}

impl Start {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let (runner, started) = match start_in_background(&context.engine, self.slots).await? {
            Ok(runner) => (runner, true),
            Err(runner) => (runner, false),
        };
        let response = Response { runner: view(&runner), started };
        context.output.show(&response, || {
            let what = if started { "is up" } else { "was up already" };
            let slots = count(runner.slots as usize, "slot");
            format!(
                "runner {} {what} with {slots}; `fleet status` shows it, `fleet stop` ends it",
                strong(&runner.name)
            )
        })
    }
}
