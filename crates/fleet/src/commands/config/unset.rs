//! `fleet config unset`

use clap::Args;
use fleet_api::verbs::config_unset::Request;
use fleet_core::text::escaped;

use super::super::Context;
use crate::Done;

/// Take a value out of your configuration file
#[derive(Debug, Args)]
#[command(display_order = 40)]
pub(crate) struct Unset {
    /// The name of the setting
    key: String,
    /// In the file of this repository (`.fleet/config.toml`) instead of your own
    #[arg(long)]
    in_project: bool,
}

impl Unset {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self { key, in_project } = self;
        let answer = context.call(Request { key, in_project }).await?;
        context.output.show(&answer, || {
            let verb = if answer.removed { "removed from" } else { "was not in" };
            format!("{} {verb} {}", answer.key, escaped(&answer.path))
        })
    }
}
