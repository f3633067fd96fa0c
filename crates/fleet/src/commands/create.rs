use clap::Args;
use fleet_api::verbs::create::{Grouping, Job, Request};

use super::Context;
use super::launching::{LaunchOptions, PromptInput};
use crate::Done;

/// Launch an agent on a branch, and follow it
///
/// The agent works in its own workspace; your checkout stays as it is. Ctrl-C stops following; the agent keeps
/// running. The finished work is on the branch. A branch that exists, here or on a remote, gets the work on top of its
/// last commit.
///
/// With --interactive the agent runs in a terminal, and the command returns at once; `fleet attach BRANCH` opens it. --attach
/// opens it now. Neither needs a prompt.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 20)]
pub(crate) struct Create {
    /// The branch, new or existing
    branch: String,
    #[command(flatten)]
    prompt: PromptInput,
    /// Read the prompt from standard input
    #[arg(value_name = "-", value_parser = ["-"], hide_possible_values = true)]
    stdin: Option<String>,
    /// The agent [default: `agent`]
    #[arg(short, long, value_name = "AGENT")]
    agent: Option<String>,
    /// Work on the branch even if it is the main branch
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    options: LaunchOptions,
}

const EXAMPLES: &str = "Examples:
  fleet create fix-login -p \"Fix the flaky login test\"
  fleet create review/auth --read-only -p \"Review src/auth for security problems\"
  fleet create port-parser --prompt-file notes/parser.md --agent codex --detach
  fleet create try-out --attach";

impl Create {
    pub(crate) async fn run(self, context: &Context) -> Done {
        // An agent in a terminal can be told there what to do.
        let is_open =
            self.prompt.is_none() && self.stdin.is_none() && self.options.is_interactive(context)?;
        let (prompt, title, options) = if is_open {
            (String::new(), Some(self.branch.clone()), self.options.attached())
        } else {
            (self.prompt.read(self.stdin.is_some())?, None, self.options)
        };
        let model = options.model.clone();
        let job =
            Job { title, branch: Some(self.branch), prompt, agent: self.agent, model, ..Job::default() };
        let request =
            Request { jobs: vec![job], wishes: options.wishes_on(self.force), grouping: Grouping::Alone };
        options.launch(context, request).await
    }
}
