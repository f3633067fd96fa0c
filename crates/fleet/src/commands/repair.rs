//! `fleet repair`: acts for the keeper of one run, which is gone. Started by runners, never by people.

use clap::Args;
use fleet_core::id::RunId;
use fleet_engine::reconcile;

use super::Context;
use crate::Done;

/// Act for the keeper of a run, which is gone (started by the runner)
#[derive(Debug, Args)]
#[command(display_order = 430, hide = true)]
pub(crate) struct Repair {
    /// The run
    run: RunId,
}

impl Repair {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let _ = fleet_engine::detach();
        reconcile::repair(&context.engine.without_project(), self.run).await
    }
}
