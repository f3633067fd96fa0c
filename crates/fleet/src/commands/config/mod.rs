//! `fleet config …`

use clap::Args;

use super::Context;
use crate::Done;

config_commands!();

/// Show, change and check the configuration
///
/// Later layers override earlier ones: defaults, `$FLEET_HOME/config.toml`, `.fleet/config.toml` in the repository,
/// `FLEET_*` variables (FLEET_TASKS_PRIORITY for tasks.priority), `--config KEY=VALUE`.
#[derive(Debug, Args)]
#[command(display_order = 300)]
pub(crate) struct Config {
    #[command(subcommand)]
    command: Command,
}

impl Config {
    pub(crate) async fn run(self, context: &Context) -> Done {
        self.command.run(context).await
    }
}
