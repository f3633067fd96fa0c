//! `fleet config …`

use clap::Args;

use super::Context;
use crate::Done;

config_commands!();

/// Show, change and check the configuration
///
/// Later layers override earlier ones: defaults, `$FLEET_HOME/config.toml`, `.fleet/config.toml` in the repository,
/// `FLEET_*` variables (FLEET_TASKS_PRIORITY for tasks.priority), `--config KEY=VALUE`.
///
/// Without a command it is `fleet config show`; `--edit` and `--validate` are short for the commands of these names.
#[derive(Debug, Args)]
#[command(display_order = 300, args_conflicts_with_subcommands = true)]
pub(crate) struct Config {
    #[command(subcommand)]
    command: Option<Command>,
    /// Edit your configuration file: `fleet config edit`
    #[arg(short, long, conflicts_with_all = ["validate", "show_origin"])]
    edit: bool,
    /// Check all of it: `fleet config validate`
    #[arg(short = 'v', long, conflicts_with = "show_origin")]
    validate: bool,
    /// Where each value comes from
    #[arg(long)]
    show_origin: bool,
}

impl Config {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self { command, edit, validate, show_origin } = self;
        match command {
            Some(command) => command.run(context).await,
            None if edit => edit::Edit::own().run(context).await,
            None if validate => validate::Validate {}.run(context).await,
            None => show::Show { show_origin, raw: false }.run(context).await,
        }
    }
}
