use clap::Args;
use fleet_api::verbs::task_export::Request;

use super::super::Context;
use crate::Done;
use crate::output::print;

/// Write all tasks of this repository as JSON lines that `fleet task import` reads
#[derive(Debug, Args)]
#[command(display_order = 160)]
pub(crate) struct Export {}

impl Export {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self {} = self;
        let mut after = None;
        loop {
            let page = context.call(Request { after, limit: None }).await?;
            if page.lines.is_empty() {
                return Ok(());
            }
            print(&page.lines.join("\n"))?;
            after = page.next;
        }
    }
}
