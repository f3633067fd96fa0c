use clap::Args;
use fleet_api::views::TaskView;
use fleet_core::text::escaped;

use super::Context;
use crate::Done;
use crate::output::{paint_status, strong};

task_commands!();

/// The queue: add, list, order, change and remove tasks
///
/// A task is something to be done in a repository; it stays until you delete it. Ids may be shortened to any
/// beginning that fits only one task.
#[derive(Debug, Args)]
#[command(display_order = 50)]
pub(crate) struct Task {
    #[command(subcommand)]
    command: Command,
}

impl Task {
    pub(crate) async fn run(self, context: &Context) -> Done {
        self.command.run(context).await
    }
}

/// Shows tasks that a command changed: one line each.
fn moved(context: &Context, tasks: &[TaskView]) -> Done {
    let line = |task: &TaskView| {
        format!("{}  {}  {}", strong(task.id.as_str()), paint_status(&task.status), escaped(&task.title))
    };
    let answer = serde_json::json!({ "tasks": tasks });
    context.output.show(&answer, || tasks.iter().map(line).collect::<Vec<_>>().join("\n"))
}
