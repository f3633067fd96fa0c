use clap::Args;
use fleet_api::verbs::run_answer::PermissionReply;

use super::Context;
use super::allow::reply;
use crate::Done;

/// Deny what an agent in a terminal asks for
///
/// Answers the dialog that its terminal shows. Then tell it what to do instead: `fleet prompt ID "…"`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 153)]
pub(crate) struct Deny {
    /// The agent: its branch, the id of its task, or of a run
    id: String,
}

const EXAMPLES: &str = "Examples:
  fleet deny login-fix";

impl Deny {
    pub(crate) async fn run(self, context: &Context) -> Done {
        reply(context, self.id, PermissionReply::Deny).await
    }
}
