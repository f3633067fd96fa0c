use clap::Args;
use fleet_api::verbs::server_token::Request;

use crate::Done;
use crate::commands::Context;

/// Print the secret that clients of `fleet mcp --http` have to send
///
/// As `Authorization: Bearer TOKEN`, with every request. It is made at the first use, and kept in a file that only you can
/// read. Agents are not told it inside of their runs.
#[derive(Debug, Args)]
#[command(display_order = 10)]
pub(crate) struct TokenCommand {
    #[command(flatten)]
    request: Request,
}

impl TokenCommand {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let found = context.call(self.request).await?;
        context.output.show(&found, || found.token.clone())
    }
}
