//! `fleet config show`

use clap::Args;

use super::super::Context;
use crate::Done;
use crate::output::{Column, dim, table};

/// Show every setting that is in force
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Where each value comes from
    #[arg(long)]
    show_origin: bool,
}

impl Show {
    pub(crate) fn run(self, context: &Context) -> Done {
        let settings = context.engine.config()?.settings();
        context.output.show(&serde_json::json!({ "settings": settings }), || {
            let origins =
                settings.iter().filter(|_| self.show_origin).map(|setting| setting.origin.to_string());
            let mut columns = vec![
                Column::new("KEY", settings.iter().map(|setting| setting.key.clone())),
                Column::new("VALUE", settings.iter().map(|setting| setting.value.to_string())).giving_way(),
            ];
            if self.show_origin {
                columns.push(Column::new("ORIGIN", origins).painted(dim).giving_way());
            }
            table(columns)
        })
    }
}
