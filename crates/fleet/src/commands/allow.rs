use clap::Args;
use fleet_api::verbs::run_answer::{Answer, PermissionReply, Request};
use fleet_core::text::escaped;

use super::Context;
use crate::Done;
use crate::output::strong;

/// Allow what an agent in a terminal asks for
///
/// Answers the dialog that its terminal shows. `fleet list` shows which agents ask, `fleet why ID` what they ask.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 152)]
pub(crate) struct Allow {
    /// The agent: its branch, the id of its task, or of a run
    id: String,
    /// Also allow similar requests from now on
    #[arg(long)]
    always: bool,
}

const EXAMPLES: &str = "Examples:
  fleet allow login-fix
  fleet allow login-fix --always";

impl Allow {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let answer = if self.always { PermissionReply::AllowAlways } else { PermissionReply::Allow };
        reply(context, self.id, answer).await
    }
}

/// Answers an agent, and says so.
pub(super) async fn reply(context: &Context, id: String, answer: PermissionReply) -> Done {
    let answered = context.call(Request { id, answer }).await?;
    context.output.show(&answered, || line(&answered))
}

fn line(answered: &Answer) -> String {
    let what = match answered.answer {
        PermissionReply::Allow => "allowed",
        PermissionReply::AllowAlways => "allowed, and what is like it",
        PermissionReply::Deny => "denied",
    };
    let asked = answered.asked.as_deref().map(|asked| format!(": {}", escaped(asked))).unwrap_or_default();
    format!("{}  {}  {what}{asked}", strong(answered.run.as_str()), escaped(&answered.agent))
}
