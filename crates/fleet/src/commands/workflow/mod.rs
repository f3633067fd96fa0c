use std::path::Path;

use clap::Args;
use fleet_api::views::{FileFormat, WorkflowSource};
use fleet_core::problem::Outcome;

use super::Context;
use super::text_input::read_file;
use crate::Done;

workflow_commands!();

/// Run workflows: graphs of stages that hand their results on
///
/// A workflow is a file in TOML, YAML or JSON. Name it by its path, or by its name: names are looked up in
/// `.fleet/workflows` of the repository, in `workflows` of your codefleet home, and among those that come with
/// codefleet. Every stage is a task with its own agent and branch. A started workflow is named by its id, a prefix of
/// it, or its name if that is unique.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 60, visible_alias = "wf")]
pub(crate) struct Workflow {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  fleet workflow init --list
  fleet workflow run write-review-refine --task \"Validate the login form\" --agent demo
  fleet workflow result write-review-refine";

/// What was named on the command line. Inside a run a file is read here: codefleet reads none in the place of an agent.
fn source(context: &Context, named: String) -> Outcome<WorkflowSource> {
    if WorkflowSource::is_name(&named) || !context.engine.is_inside_a_run() {
        return Ok(WorkflowSource::Named(named));
    }
    let path = Path::new(&named);
    let format = FileFormat::of(path).unwrap_or_default();
    Ok(WorkflowSource::Given { text: read_file(path)?, format, name: named })
}

impl Workflow {
    pub(crate) async fn run(self, context: &Context) -> Done {
        self.command.run(context).await
    }
}
