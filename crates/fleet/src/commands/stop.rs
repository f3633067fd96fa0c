use clap::Args;
use fleet_api::verbs::runner_stop::{Answer, Request};

use super::Context;
use crate::Done;
use crate::output::count;

/// Stop the runner; agents that are at work go on
#[derive(Debug, Args)]
#[command(display_order = 210)]
pub(crate) struct Stop {
    #[command(flatten)]
    request: Request,
}

impl Stop {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let stopped = context.call(self.request).await?;
        context.output.show(&stopped, || said(&stopped))
    }
}

pub(crate) fn said(stopped: &Answer) -> String {
    let runners = match stopped.runners.len() {
        0 => "no runner was up".to_owned(),
        number => format!("{} stopped", count(number, "runner")),
    };
    match (stopped.released, stopped.going_on) {
        (0, 0) => runners,
        (0, 1) => format!("{runners}; 1 agent goes on (`fleet stop --agents` stops it)"),
        (0, number) => format!("{runners}; {number} agents go on (`fleet stop --agents` stops them)"),
        (number, _) => format!("{runners}, {} stopped and back in the queue", count(number, "agent")),
    }
}
