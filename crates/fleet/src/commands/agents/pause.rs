use clap::Args;
use fleet_api::verbs::agents_pause::Request;
use fleet_core::time::Span;

use super::super::Context;
use crate::Done;
use crate::output::until;

/// Let no task start with an agent's account for a while
///
/// Agents of one provider and account are paused together. What runs goes on. Providers' own limits pause accounts by
/// themselves; `fleet agents` shows who is paused.
#[derive(Debug, Args)]
#[command(display_order = 60)]
pub(super) struct Pause {
    /// The agent
    name: String,
    /// How long
    #[arg(long = "for", value_name = "TIME", default_value = "1h")]
    span: Span,
    /// Why, for people who wonder
    #[arg(long, value_name = "TEXT", default_value = "somebody paused it")]
    why: String,
}

impl Pause {
    pub(super) async fn run(self, context: &Context) -> Done {
        let request = Request { agent: self.name, seconds: self.span.0.as_secs(), why: self.why };
        let done = context.call(request).await?;
        context.output.show(&done, || {
            let left = done.paused_until.as_ref().map(|at| until(at.0, context.engine.now()));
            let left = left.unwrap_or_else(|| "at once".to_owned());
            if done.changed {
                format!("{} is paused and goes on {left}", done.account)
            } else {
                format!("{} was paused for longer already and goes on {left}", done.account)
            }
        })
    }
}
