//! `fleet workflow …`

mod cancel;
mod check;
mod clean;
mod diagnostics;
mod ending;
mod init;
mod list;
mod result;
mod retry;
mod run;
mod show;
mod watch;

use clap::Subcommand;

use super::Context;
use crate::Done;

/// Several agents on one task: graphs of stages that pass on what they did
///
/// A workflow is a file in TOML, YAML or JSON. It is named by its path, or by its name: then it is looked for in
/// `.fleet/workflows` of the repository, in `workflows` of your codefleet home, and among those that come with codefleet.
/// Every stage is a task with an agent and a branch of its own. One that runs or ran is named by its id, the beginning of
/// that, or its name if only one has it.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Workflow {
    Init(init::Init),
    Check(check::Check),
    Run(Box<run::Run>),
    List(list::List),
    Show(show::Show),
    Watch(watch::Watch),
    Result(result::ResultCommand),
    Retry(retry::Retry),
    Cancel(cancel::Cancel),
    Clean(clean::Clean),
}

const EXAMPLES: &str = "Examples:
  fleet workflow init --list
  fleet workflow run write-review-refine --task \"Validate the login form\" --agent demo
  fleet workflow result write-review-refine";

impl Workflow {
    pub(crate) async fn run(self, context: &Context) -> Done {
        match self {
            Self::Init(command) => command.run(context),
            Self::Check(command) => command.run(context),
            Self::Run(command) => command.run(context).await,
            Self::List(command) => command.run(context).await,
            Self::Show(command) => command.run(context).await,
            Self::Watch(command) => command.run(context).await,
            Self::Result(command) => command.run(context).await,
            Self::Retry(command) => command.run(context).await,
            Self::Cancel(command) => command.run(context).await,
            Self::Clean(command) => command.run(context).await,
        }
    }
}
