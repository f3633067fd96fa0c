use clap::Args;
use fleet_api::verbs::fanout::Request;

use super::Context;
use super::launching::{LaunchOptions, PromptInput};
use crate::Done;

/// Launch several agents on the same prompt, each on its own branch
///
/// The branches are called PREFIX-A, PREFIX-B and so on, and all start from the same commit. Several agents take turns.
/// All of them are launched, or none; together they are a batch.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 30)]
pub(crate) struct Fanout {
    /// How many, up to 100
    #[arg(value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(1..=100))]
    copies: u8,
    /// Prefix of the branch names [default: made from the prompt]
    prefix: Option<String>,
    #[command(flatten)]
    prompt: PromptInput,
    /// The agents, taking turns: claude,codex [default: `agent`]
    #[arg(short, long, value_name = "AGENT", value_delimiter = ',')]
    agent: Vec<String>,
    #[command(flatten)]
    options: LaunchOptions,
}

const EXAMPLES: &str = "Examples:
  fleet fanout 3 login -p \"Fix the flaky login test\"      # login-A, login-B, login-C
  fleet fanout 4 --agent claude,codex -p \"Speed up the parser\" --limit time=30m
  fleet fanout 2 - < prompt.md";

impl Fanout {
    pub(crate) async fn run(self, context: &Context) -> Done {
        // The only name of a branch that nobody can mean.
        let is_stdin = self.prefix.as_deref() == Some("-");
        let request = Request {
            copies: self.copies.into(),
            prompt: self.prompt.read(is_stdin)?,
            prefix: self.prefix.filter(|_| !is_stdin),
            agents: self.agent,
            model: self.options.model.clone(),
            wishes: self.options.wishes(),
        };
        self.options.launch(context, request).await
    }
}
