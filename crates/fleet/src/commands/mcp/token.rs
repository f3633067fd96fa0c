//! `fleet mcp token`

use clap::Args;
use fleet_engine::verbs::server_token;
use serde_json::json;

use crate::Done;
use crate::commands::Context;

/// Print the secret that clients of `fleet mcp --http` have to send
///
/// As `Authorization: Bearer TOKEN`, with every request. It is made at the first use, and kept in a file that only you can
/// read. Agents are not told it inside of their runs.
#[derive(Debug, Args)]
pub(crate) struct TokenCommand {
    /// Make a new one first; servers that are up keep the old one until they are started again
    #[arg(long)]
    renew: bool,
}

impl TokenCommand {
    pub(crate) fn run(self, context: &Context) -> Done {
        let engine = &context.engine;
        let found = if self.renew { server_token::renew(engine)? } else { server_token::show(engine)? };
        let answer = json!({"token": found.token.revealed(), "file": found.file});
        context.output.show(&answer, || found.token.revealed().to_owned())
    }
}
