use clap::Args;
use fleet_api::verbs::runner_stop::Request;

use super::Context;
use super::start::Start;
use crate::Done;

/// Restart the runner with the current settings; agents keep running
#[derive(Debug, Args)]
#[command(display_order = 220)]
pub(crate) struct Restart {
    #[command(flatten)]
    start: Start,
}

impl Restart {
    pub(crate) async fn run(self, context: &Context) -> Done {
        context.call(Request { agents: false, restart: true }).await?;
        self.start.run(context).await
    }
}
