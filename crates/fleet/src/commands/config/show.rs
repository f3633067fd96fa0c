//! `fleet config show`

use clap::Args;
use fleet_api::verbs::config_show::Request;
use fleet_api::verbs::config_text;
use fleet_core::text::escaped;

use super::super::Context;
use crate::Done;
use crate::output::{columns, dim, table, value};

/// Show every setting that is in force
#[derive(Debug, Args)]
#[command(display_order = 10)]
pub(crate) struct Show {
    /// Where each value comes from
    #[arg(long)]
    pub(super) show_origin: bool,
    /// Print your configuration file as it is, secrets included
    #[arg(long, conflicts_with = "show_origin")]
    pub(super) raw: bool,
}

impl Show {
    pub(crate) async fn run(self, context: &Context) -> Done {
        if self.raw {
            return raw(context).await;
        }
        let answer = context.call(Request::default()).await?;
        context.output.show(&answer, || {
            let column = columns(&answer.settings);
            let mut shown = vec![
                column("KEY", &|setting| setting.key.clone()),
                column("VALUE", &|setting| value(&setting.value)).giving_way(),
            ];
            if self.show_origin {
                shown.push(column("ORIGIN", &|setting| setting.origin.to_string()).painted(dim).giving_way());
            }
            table(shown)
        })
    }
}

async fn raw(context: &Context) -> Done {
    let file = context.call(config_text::Request::default()).await?;
    if file.text.is_none() {
        context.output.note(&format!("there is no file {}: everything has its default", escaped(&file.path)));
    }
    context.output.show(&file, || file.text.as_deref().unwrap_or_default().trim_end().to_owned())
}
