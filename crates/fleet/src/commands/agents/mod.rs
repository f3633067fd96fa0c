use clap::Args;

use super::Context;
use crate::Done;

agents_commands!();

/// List, test and manage agents
///
/// Without a command, lists them. Their settings are in the configuration, under `agents.NAME`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 280)]
pub(crate) struct Agents {
    #[command(subcommand)]
    command: Option<Command>,
}

const EXAMPLES: &str = "Examples:
  fleet agents
  fleet agents show claude
  fleet agents test claude
  fleet config set agents.codex.model gpt-5";

impl Agents {
    pub(crate) async fn run(self, context: &Context) -> Done {
        match self.command {
            None => list::List {}.run(context).await,
            Some(command) => command.run(context).await,
        }
    }
}
