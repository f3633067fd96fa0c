//! `fleet config unset`

use clap::Args;
use fleet_core::text::escaped;
use fleet_engine::config;

use super::super::Context;
use super::file;
use crate::Done;

/// Take a value out of your configuration file
#[derive(Debug, Args)]
pub(crate) struct Unset {
    /// The name of the setting
    key: String,
    /// In the file of this repository (`.fleet/config.toml`) instead of your own
    #[arg(long)]
    in_project: bool,
}

impl Unset {
    pub(crate) fn run(self, context: &Context) -> Done {
        let file = file(context, self.in_project)?;
        let was_there = config::unset(&file, &self.key)?;
        let answer = serde_json::json!({ "key": self.key, "removed": was_there, "path": file.path().display().to_string() });
        context.output.show(&answer, || {
            let verb = if was_there { "removed from" } else { "was not in" };
            format!("{} {verb} {}", self.key, escaped(&file.path().display().to_string()))
        })
    }
}
