//! `fleet config get`

use clap::Args;
use fleet_core::text::escaped;

use super::super::Context;
use crate::Done;

/// Print one setting
#[derive(Debug, Args)]
pub(crate) struct Get {
    /// The name of the setting
    key: String,
    /// Where the value comes from
    #[arg(long)]
    show_origin: bool,
}

impl Get {
    pub(crate) fn run(self, context: &Context) -> Done {
        let setting = context.engine.config()?.get(&self.key)?;
        context.output.show(&setting, || {
            if self.show_origin {
                format!("{}\t{}", setting.value, escaped(&setting.origin.to_string()))
            } else {
                setting.value.to_string()
            }
        })
    }
}
