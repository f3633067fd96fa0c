//! `fleet config …`

mod edit;
mod get;
mod set;
mod show;
mod unset;
mod validate;

use clap::Subcommand;
use fleet_core::problem::Outcome;
use fleet_engine::config::ConfigFile;
use fleet_engine::verbs::lineage;

use super::Context;
use crate::Done;

/// The configuration: show it, change it, check it
///
/// Later wins: defaults, `$FLEET_HOME/config.toml`, `.fleet/config.toml` in the repository, `FLEET_*` variables
/// (FLEET_TASKS_PRIORITY for tasks.priority), `--config KEY=VALUE`.
#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    Show(show::Show),
    Get(get::Get),
    Set(set::Set),
    Unset(unset::Unset),
    Edit(edit::Edit),
    Validate(validate::Validate),
}

impl Config {
    pub(crate) fn run(self, context: &Context) -> Done {
        match self {
            Self::Show(command) => command.run(context),
            Self::Get(command) => command.run(context),
            Self::Set(command) => command.run(context),
            Self::Unset(command) => command.run(context),
            Self::Edit(command) => command.run(context),
            Self::Validate(_) => validate::Validate::run(context),
        }
    }
}

/// The file that a command changes: the repository's with `--in-project`, else the user's. Only people change settings: an
/// agent could give itself more than its user did.
fn file(context: &Context, in_project: bool) -> Outcome<ConfigFile> {
    lineage::people_only(&context.engine, "change the configuration")?;
    if in_project { context.engine.project_config() } else { Ok(context.engine.user_config()) }
}
