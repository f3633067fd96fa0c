use clap::Args;
use fleet_api::verbs::task_cancel::Answer;
use fleet_api::views::TaskView;
use fleet_core::text::escaped;

use super::Context;
use crate::Done;
use crate::output::{paint_status, strong};

task_commands!();

pub(super) use rows::note;

/// Manage the queue: add, list, order, edit and delete tasks
///
/// A task is a piece of work in a repository; it stays until you delete it. Ids may be shortened to any unique prefix.
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

pub(super) use ready::list_ready;

/// Shows tasks that a command changed: one line each.
async fn moved(context: &Context, answer: Answer) -> Done {
    let line = |task: &TaskView| {
        format!("{}  {}  {}", strong(task.id.as_str()), paint_status(&task.status), escaped(&task.title))
    };
    context.output.show(&answer, || answer.tasks.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// The same for tasks that may start now.
async fn requeued(context: &Context, answer: Answer) -> Done {
    context.work_was_queued().await;
    moved(context, answer).await
}
