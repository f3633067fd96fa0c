//! `fleet config show`

use clap::Args;
use fleet_api::verbs::config_show::Request;

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
}

impl Show {
    pub(crate) async fn run(self, context: &Context) -> Done {
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
