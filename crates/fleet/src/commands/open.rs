use std::io::IsTerminal as _;

use clap::Args;
use fleet_api::verbs::run_open::Request;
use fleet_core::problem::Outcome;

use super::Context;
use crate::Done;

/// Open an agent's workspace
///
/// Opens it in $VISUAL or $EDITOR. Without a terminal, prints its path. The agent keeps working in the same files. A run
/// that has ended has no workspace any more: then a clone with its branch is made, which stays until you remove it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 120)]
pub(crate) struct Open {
    #[command(flatten)]
    request: Request,
    /// Start $SHELL in it instead of an editor
    #[arg(long, conflicts_with = "print")]
    shell: bool,
    /// Print its path
    #[arg(long)]
    print: bool,
}

const EXAMPLES: &str = "Examples:
  fleet open login-fix
  fleet open login-fix --shell
  cd \"$(fleet open login-fix --print)\"";

impl Open {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let found = context.call(self.request).await?;
        let is_for_people = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
        if self.print || context.output.is_json() || !(is_for_people || self.shell) {
            return context.output.show(&found, || found.workspace.display().to_string());
        }
        if self.shell {
            return fleet_engine::run_shell(&program(context, &["SHELL"], "sh")?, &found.workspace);
        }
        fleet_engine::edit_file(&program(context, &["VISUAL", "EDITOR"], "vi")?, &found.workspace)
    }
}

/// The program that the user's environment names first.
pub(super) fn program(context: &Context, names: &[&str], usual: &str) -> Outcome<String> {
    for name in names {
        if let Some(program) = context.engine.environment().get(name)? {
            return Ok(program.to_owned());
        }
    }
    Ok(usual.to_owned())
}
