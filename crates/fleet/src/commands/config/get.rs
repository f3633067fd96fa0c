//! `fleet config get`

use clap::Args;
use fleet_api::verbs::config_get::Request;
use fleet_core::text::escaped;

use super::super::Context;
use crate::Done;
use crate::output::value;

/// Print one setting
#[derive(Debug, Args)]
#[command(display_order = 20)]
pub(crate) struct Get {
    /// The name of the setting
    key: String,
    /// Where the value comes from
    #[arg(long)]
    show_origin: bool,
}

impl Get {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let setting = context.call(Request { key: self.key }).await?;
        context.output.show(&setting, || {
            let shown = value(&setting.value);
            if self.show_origin {
                format!("{shown}\t{}", escaped(&setting.origin.to_string()))
            } else {
                shown
            }
        })
    }
}
