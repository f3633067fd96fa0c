use clap::Args;

use crate::Done;
use crate::commands::Context;

task_dep_commands!();

/// Dependencies: what a task waits for
#[derive(Debug, Args)]
#[command(display_order = 90)]
pub(crate) struct Dep {
    #[command(subcommand)]
    command: Command,
}

impl Dep {
    pub(crate) async fn run(self, context: &Context) -> Done {
        self.command.run(context).await
    }
}
