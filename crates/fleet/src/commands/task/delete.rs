//! `fleet task delete`

use clap::Args;
use fleet_core::problem::{Code, Problem};
use fleet_core::text::escaped;
use fleet_engine::verbs::task_delete::{self, Request};

use super::super::Context;
use crate::Done;
use crate::output::{confirm, strong};

/// Remove tasks for good
///
/// Their events stay. A running task, and one that others wait for, is not deleted: cancel it instead.
#[derive(Debug, Args)]
#[command(visible_alias = "rm")]
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
        let request = Request { ids: self.ids };
        if !self.yes {
            let meant = task_delete::preview(&context.engine, &request).await?;
            for task in &meant {
                context.output.note(&format!("{}  {}", strong(task.id.as_str()), escaped(&task.title)));
            }
            if !confirm(&format!("Delete {} for good?", count(meant.len()))) {
                return Err(
                    Problem::new(Code::Usage, "nothing was deleted").hint("`--yes` deletes without asking")
                );
            }
        }
        let gone = task_delete::run(&context.engine, request).await?;
        context
            .output
            .show(&serde_json::json!({ "deleted": gone }), || format!("deleted {}", count(gone.len())))
    }
}

fn count(tasks: usize) -> String {
    if tasks == 1 { "1 task".to_owned() } else { format!("{tasks} tasks") }
}
