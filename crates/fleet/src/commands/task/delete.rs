//! `fleet task delete`

use clap::Args;
use fleet_api::verbs::task_delete::Request;
use fleet_core::problem::{Code, Problem};
use fleet_core::text::escaped;

use super::super::Context;
use crate::Done;
use crate::output::{confirm, count, strong};

/// Remove tasks for good
///
/// Their events stay. A running task, and one that others wait for, is not deleted: cancel it instead.
#[derive(Debug, Args)]
#[command(visible_alias = "rm")]
#[command(display_order = 140)]
pub(crate) struct Delete {
    /// The tasks: all of them go, or none
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl Delete {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let mut request = Request { ids: self.ids, dry_run: false };
        if !self.yes {
            let meant = context.call(Request { dry_run: true, ..request.clone() }).await?.deleted;
            for task in &meant {
                context.output.note(&format!("{}  {}", strong(task.id.as_str()), escaped(&task.title)));
            }
            match confirm(&format!("Delete {} for good?", count(meant.len(), "task"))) {
                Some(true) => {}
                Some(false) => {
                    return context
                        .output
                        .show(&serde_json::json!({ "deleted": [] }), || "nothing was deleted".to_owned());
                }
                None => {
                    let problem = Problem::new(Code::Usage, "no terminal to confirm, so nothing was deleted");
                    return Err(problem.hint("`--yes` deletes without asking"));
                }
            }
            // What was agreed to, whatever the names may mean by now.
            request.ids = meant.iter().map(|task| task.id.to_string()).collect();
        }
        let gone = context.call(request).await?;
        context.output.show(&gone, || format!("deleted {}", count(gone.deleted.len(), "task")))
    }
}
