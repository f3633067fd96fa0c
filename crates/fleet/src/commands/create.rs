use clap::Args;
use fleet_api::verbs::create::{Grouping, Job, Request};

use super::Context;
use super::launching::{LaunchOptions, PromptInput};
use crate::Done;

/// Launch an agent on a new branch, and follow it
///
/// The agent works in its own workspace; your checkout stays as it is. Ctrl-C stops following; the agent keeps
/// running. The finished work is on the branch.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 20)]
pub(crate) struct Create {
    /// The new branch
    branch: String,
    #[command(flatten)]
    prompt: PromptInput,
    /// Read the prompt from standard input
    #[arg(value_name = "-", value_parser = ["-"], hide_possible_values = true)]
    stdin: Option<String>,
    /// The agent [default: `agent`]
    #[arg(short, long, value_name = "AGENT")]
    agent: Option<String>,
    #[command(flatten)]
    options: LaunchOptions,
}

const EXAMPLES: &str = "Examples:
  fleet create fix-login -p \"Fix the flaky login test\"
  fleet create review/auth --read-only -p \"Review src/auth for security problems\"
  fleet create port-parser --prompt-file notes/parser.md --agent codex --detach";

impl Create {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let prompt = self.prompt.read(self.stdin.is_some())?;
        let model = self.options.model.clone();
        let job = Job { branch: Some(self.branch), prompt, agent: self.agent, model, ..Job::default() };
        let request = Request { jobs: vec![job], wishes: self.options.wishes(), grouping: Grouping::Alone };
        self.options.launch(context, request).await
    }
}
