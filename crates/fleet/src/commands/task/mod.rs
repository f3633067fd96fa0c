//! `fleet task …`

mod add;
mod cancel;
mod delete;
mod dep;
mod edit;
mod export;
mod hold;
mod import;
mod list;
mod order;
mod ready;
mod release;
mod retry;
mod rows;
mod search;
mod show;
mod similar;

use clap::Subcommand;
use fleet_core::text::escaped;
use fleet_engine::views::TaskView;

use super::Context;
use crate::Done;
use crate::output::{paint_status, strong};

/// The queue: add, list, order, change and remove tasks
///
/// A task is something to be done in a repository; it stays until you delete it. Ids may be shortened to any
/// beginning that fits only one task.
#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    Add(Box<add::Add>),
    List(list::List),
    Ready(ready::Ready),
    Search(search::Search),
    Similar(similar::Similar),
    Order(order::Order),
    Show(show::Show),
    Edit(Box<edit::Edit>),
    #[command(subcommand)]
    Dep(dep::Dep),
    Hold(hold::Hold),
    Release(release::Release),
    Cancel(cancel::Cancel),
    Retry(retry::Retry),
    Delete(delete::Delete),
    Import(import::Import),
    Export(export::Export),
}

impl Task {
    pub(crate) async fn run(self, context: &Context) -> Done {
        match self {
            Self::Add(command) => command.run(context).await,
            Self::List(command) => command.run(context).await,
            Self::Ready(command) => command.run(context).await,
            Self::Search(command) => command.run(context).await,
            Self::Similar(command) => command.run(context).await,
            Self::Order(command) => command.run(context).await,
            Self::Show(command) => command.run(context).await,
            Self::Edit(command) => command.run(context).await,
            Self::Dep(command) => command.run(context).await,
            Self::Hold(command) => command.run(context).await,
            Self::Release(command) => command.run(context).await,
            Self::Cancel(command) => command.run(context).await,
            Self::Retry(command) => command.run(context).await,
            Self::Delete(command) => command.run(context).await,
            Self::Import(command) => command.run(context).await,
            Self::Export(_) => export::Export::run(context).await,
        }
    }
}

/// Shows tasks that a command changed: one line each.
fn moved(context: &Context, tasks: &[TaskView]) -> Done {
    let line = |task: &TaskView| {
        format!("{}  {}  {}", strong(task.id.as_str()), paint_status(task.status), escaped(&task.title))
    };
    let answer = serde_json::json!({ "tasks": tasks });
    context.output.show(&answer, || tasks.iter().map(line).collect::<Vec<_>>().join("\n"))
}
