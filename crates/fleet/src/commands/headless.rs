use clap::Args;
use fleet_api::verbs::run_mode::{Answer, Request};
use fleet_core::task::TaskMode;

use super::Context;
use crate::Done;
use crate::output::strong;

/// Let an agent continue without its terminal
///
/// The agent in the terminal ends, its work is kept, and the same conversation continues as a headless run: it works
/// until its task is done. `fleet attach ID --takeover` goes back to a terminal.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 107)]
pub(crate) struct Headless {
    /// The agent: its branch, the id of its task, or of a run
    id: String,
}

const EXAMPLES: &str = "Examples:
  fleet headless login-fix";

impl Headless {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let answer = context.call(Request { id: self.id, mode: TaskMode::Headless }).await?;
        if !answer.unchanged {
            context.work_was_queued().await;
        }
        context.output.show(&answer, || line(&answer))
    }
}

fn line(answer: &Answer) -> String {
    let what =
        if answer.unchanged { "already runs without a terminal" } else { "continues without a terminal" };
    format!("{}  {what}", strong(answer.task.as_str()))
}
