//! `fleet restart`

use clap::Args;
use fleet_engine::verbs::runner_stop::{self, Request};

use super::Context;
use super::start::Start;
use crate::Done;

/// Stop the runner and start it again, with the settings as they are now; agents go on meanwhile
#[derive(Debug, Args)]
pub(crate) struct Restart {
    #[command(flatten)]
    start: Start,
}

impl Restart {
    pub(crate) async fn run(self, context: &Context) -> Done {
        runner_stop::run(&context.engine, Request { agents: false, is_restart: true }).await?;
        self.start.run(context).await
    }
}
