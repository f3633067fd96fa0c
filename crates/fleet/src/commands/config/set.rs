//! `fleet config set`

use clap::Args;
use fleet_core::text::escaped;
use fleet_engine::config;

use super::super::Context;
use super::file;
use crate::Done;
use crate::output::dim;

/// Set a value in your configuration file; comments and layout stay as they are
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fleet config set tasks.priority 4\n  fleet config set agents.codex.model gpt-5 --in-project"
)]
pub(crate) struct Set {
    /// The name of the setting
    key: String,
    /// Its new value
    #[arg(allow_hyphen_values = true)]
    value: String,
    /// In the file of this repository (`.fleet/config.toml`) instead of your own
    #[arg(long)]
    in_project: bool,
}

impl Set {
    pub(crate) fn run(self, context: &Context) -> Done {
        let file = file(context, self.in_project)?;
        let setting = config::set(&file, &self.key, &self.value)?;
        context.output.show(&setting, || {
            format!("{} = {}  {}", setting.key, setting.value, dim(&escaped(&setting.origin.to_string())))
        })
    }
}
