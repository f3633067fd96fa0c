use clap::Args;
use fleet_api::verbs::agents_resume::Request;

use super::super::Context;
use crate::Done;

/// Let tasks start again with an agent's account
#[derive(Debug, Args)]
#[command(display_order = 70)]
pub(super) struct Resume {
    #[command(flatten)]
    request: Request,
}

impl Resume {
    pub(super) async fn run(self, context: &Context) -> Done {
        let done = context.call(self.request).await?;
        context.output.show(&done, || {
            if done.changed {
                format!("{} takes work again", done.account)
            } else {
                format!("{} was not paused", done.account)
            }
        })
    }
}
