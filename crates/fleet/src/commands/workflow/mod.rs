//! `fleet workflow …`

mod check;
mod diagnostics;
mod init;

use clap::Subcommand;

use super::Context;
use crate::Done;

/// Several agents on one task: graphs of stages that pass on what they did
///
/// A workflow is a file in TOML, YAML or JSON. It is named by its path, or by its name: then it is looked for in
/// `.fleet/workflows` of the repository, in `workflows` of your codefleet home, and among those that come with codefleet.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum Workflow {
    Init(init::Init),
    Check(check::Check),
}

const EXAMPLES: &str = "Examples:
  fleet workflow init --list
  fleet workflow init write-review-refine
  fleet workflow check write-review-refine";

impl Workflow {
    #[expect(clippy::unused_async, reason = "the other verbs of the noun wait for the store")]
    pub(crate) async fn run(self, context: &Context) -> Done {
        match self {
            Self::Init(command) => command.run(context),
            Self::Check(command) => command.run(context),
        }
    }
}
