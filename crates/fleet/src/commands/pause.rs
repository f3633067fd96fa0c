use clap::Args;
use fleet_api::verbs::pause::{Answer, Request};
use fleet_core::text::escaped;

use super::Context;
use crate::Done;

/// Pause the queue: no runner starts a task
///
/// Applies to all runners on all machines, until `fleet unpause`. Running agents go on. With --project, only tasks of the
/// repository of that directory are paused; with --agent, only those of an agent.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 213)]
pub(crate) struct Pause {
    #[command(flatten)]
    request: Request,
}

const EXAMPLES: &str = "Examples:
  fleet pause                     # nothing is started, anywhere
  fleet pause --project .         # nothing of this repository
  fleet pause --agent codex --why \"maintenance\"";

impl Pause {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self { request } = self;
        let this_project = context.is_project_named;
        let answer = context.call(Request { this_project, ..request }).await?;
        context.output.show(&answer, || render(&answer))
    }
}

pub(super) fn render(answer: &Answer) -> String {
    if answer.paused.is_empty() {
        return if answer.changed { "nothing is paused any more" } else { "nothing was paused" }.to_owned();
    }
    answer.paused.iter().map(|pause| escaped(&pause.sentence()).into_owned()).collect::<Vec<_>>().join("\n")
}
