use clap::Args;
use fleet_api::verbs::unpause::Request;

use super::{Context, pause};
use crate::Done;

/// Lift a pause of the queue
///
/// Lifts the pause that `fleet pause` with the same --project and --agent has set, and shows what is still paused.
#[derive(Debug, Args)]
#[command(display_order = 214)]
pub(crate) struct Unpause {
    #[command(flatten)]
    request: Request,
}

impl Unpause {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self { request } = self;
        let this_project = context.is_project_named;
        let answer = context.call(Request { this_project, ..request }).await?;
        if !answer.changed && !answer.paused.is_empty() {
            context.output.note("just that was not paused");
        }
        context.output.show(&answer, || pause::render(&answer))
    }
}
