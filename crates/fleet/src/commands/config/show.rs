//! `fleet config show`

use clap::Args;
use fleet_api::verbs::config_show::Request;

use super::super::Context;
use crate::Done;
use crate::output::{Column, dim, table, value};

/// Show every setting that is in force
#[derive(Debug, Args)]
#[command(display_order = 10)]
pub(crate) struct Show {
    /// Where each value comes from
    #[arg(long)]
    show_origin: bool,
}

impl Show {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let answer = context.call(Request::default()).await?;
        context.output.show(&answer, || {
            let settings = &answer.settings;
            let origins =
                settings.iter().filter(|_| self.show_origin).map(|setting| setting.origin.to_string());
            let mut columns = vec![
                Column::new("KEY", settings.iter().map(|setting| setting.key.clone())),
                Column::new("VALUE", settings.iter().map(|setting| value(&setting.value))).giving_way(),
            ];
            if self.show_origin {
                columns.push(Column::new("ORIGIN", origins).painted(dim).giving_way());
            }
            table(columns)
        })
    }
}
