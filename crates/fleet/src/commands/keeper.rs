//! `fleet keeper`: the keeper of one run. Started by runners, never by people.

use clap::Args;
use fleet_core::id::RunId;
use fleet_engine::keeper::{self, Ticket};

use super::Context;
use crate::Done;

/// Keep one run (started by the runner)
#[derive(Debug, Args)]
// A runner of an earlier version calls it `shim`.
#[command(display_order = 420, hide = true, alias = "shim")]
pub(crate) struct Keeper {
    /// The run
    run: RunId,
    /// Its attempt
    attempt: i64,
    /// The slots of its runner, which a runner of an earlier version does not tell
    #[arg(default_value_t = 1)]
    slots: usize,
}

impl Keeper {
    pub(crate) async fn run(self, context: &Context) -> Done {
        // A session of its own: neither a closed terminal nor its Ctrl-C reaches the agent.
        let _ = fleet_engine::detach();
        let ticket = Ticket { run: self.run, attempt: self.attempt, slots: self.slots };
        keeper::run(&context.engine.without_project(), ticket).await
    }
}
