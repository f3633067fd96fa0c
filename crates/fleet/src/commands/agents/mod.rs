//! `fleet agents …`

mod decode;
mod list;
mod pause;
mod prices;
mod show;
mod test;

use clap::{Args, Subcommand};

use super::Context;
use crate::Done;

/// The agents: which are here, what they may do, and whether they work
///
/// Without a command, lists them. What is set for them is in the configuration, under `agents.NAME`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Agents {
    #[command(subcommand)]
    verb: Option<Verb>,
}

const EXAMPLES: &str = "Examples:
  fleet agents
  fleet agents show claude
  fleet agents test claude
  fleet config set agents.codex.model gpt-5";

#[derive(Debug, Subcommand)]
enum Verb {
    List(list::List),
    Show(show::Show),
    Test(test::Test),
    Decode(decode::Decode),
    Prices(prices::Prices),
    Pause(pause::Pause),
    Resume(pause::Resume),
}

impl Agents {
    pub(crate) async fn run(self, context: &Context) -> Done {
        match self.verb {
            None | Some(Verb::List(_)) => list::List::run(context).await,
            Some(Verb::Show(command)) => command.run(context).await,
            Some(Verb::Test(command)) => command.run(context).await,
            Some(Verb::Decode(command)) => command.run(context),
            Some(Verb::Prices(_)) => prices::Prices::run(context),
            Some(Verb::Pause(command)) => command.run(context).await,
            Some(Verb::Resume(command)) => command.run(context).await,
        }
    }
}
