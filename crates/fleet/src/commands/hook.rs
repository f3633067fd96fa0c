use std::io::Read as _;

use clap::Args;
use fleet_api::verbs::run_hook::Request;

use super::Context;
use crate::Done;

/// More of what a hook says is not read.
const LONGEST_PAYLOAD: u64 = 256 * 1024;

/// For hooks of agents: tell the keeper of this run what the agent does
///
/// Never fails, and says nothing: a hook must not get in the way of its agent.
#[derive(Debug, Args)]
#[command(display_order = 420, hide = true)]
pub(crate) struct Hook {
    /// What the agent says; standard input, if left out
    payload: Option<String>,
}

impl Hook {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let payload = self.payload.unwrap_or_else(|| {
            let mut bytes = Vec::new();
            // What could be read is better than nothing.
            let _ = std::io::stdin().lock().take(LONGEST_PAYLOAD).read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let _ = context.call(Request { payload }).await;
        Ok(())
    }
}
