//! `fleet config set`

use clap::Args;
use fleet_api::verbs::config_set::{Answer, Request};
use fleet_core::text::escaped;

use super::super::Context;
use crate::Done;
use crate::output::{dim, value, warn};

/// Set a value in your configuration file; comments and layout stay as they are
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fleet config set tasks.priority 4\n  fleet config set agents.codex.model gpt-5 --in-project"
)]
#[command(display_order = 30)]
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
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self { key, value: text, in_project } = self;
        let Answer { setting, warnings } = context.call(Request { key, value: text, in_project }).await?;
        for warning in &warnings {
            context.output.note(&format!("{} {}", warn("warning:"), escaped(warning)));
        }
        context.output.show(&setting, || {
            let origin = setting.origin.to_string();
            format!("{} = {}  {}", setting.key, value(&setting.value), dim(&escaped(&origin)))
        })
    }
}
