use clap::Args;
use fleet_api::verbs::task_delete::Request;
use fleet_core::text::escaped;

use super::super::Context;
use super::super::consent::require_consent;
use crate::Done;
use crate::output::{count, strong};

/// Delete tasks permanently
///
/// Their events stay. A running task, and one that others wait for, is not deleted: cancel it instead.
#[derive(Debug, Args)]
#[command(visible_alias = "rm")]
#[command(display_order = 140)]
pub(crate) struct Delete {
    #[command(flatten)]
    request: Request,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl Delete {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let mut request = self.request;
        if !self.yes {
            let meant = context.call(Request { dry_run: true, ..request.clone() }).await?.deleted;
            for task in &meant {
                context.output.note(&format!("{}  {}", strong(task.id.as_str()), escaped(&task.title)));
            }
            let question = format!("Delete {} permanently?", count(meant.len(), "task"));
            if !require_consent(context, false, &question, "nothing was deleted")? {
                let nothing = serde_json::json!({ "deleted": [] });
                return context.output.show(&nothing, || "nothing was deleted".to_owned());
            }
            // What was agreed to, whatever the names may mean by now.
            request.ids = meant.iter().map(|task| task.id.to_string()).collect();
        }
        let gone = context.call(request).await?;
        context.output.show(&gone, || format!("deleted {}", count(gone.deleted.len(), "task")))
    }
}
