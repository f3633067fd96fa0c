use clap::Args;
use fleet_api::verbs::disk::{Amount, Answer, ProjectDisk, Request};

use super::Context;
use super::waiting::waiting;
use crate::Done;
use crate::output::{bytes, columns, count, dim, strong, table};

/// Show disk usage
///
/// Workspaces that agents work in, workspaces that are kept warm for the next ones, logs of runs, what is being removed,
/// and the store. Snapshots are counted: they share their content with your repository.
#[derive(Debug, Args)]
#[command(display_order = 250)]
pub(crate) struct Disk {}

impl Disk {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self {} = self;
        let used = waiting(context.call(Request::default())).await?;
        context.output.show(&used, || render(&used))
    }
}

fn render(used: &Answer) -> String {
    let mut lines = Vec::new();
    if !used.projects.is_empty() {
        let column = columns(&used.projects);
        let name = |project: &ProjectDisk| {
            let gone = if project.exists { "" } else { " (gone)" };
            format!("{}{gone}", project.name)
        };
        let snapshots =
            |project: &ProjectDisk| project.snapshots.map_or_else(String::new, |count| count.to_string());
        lines.push(table(vec![
            column("PROJECT", &name).giving_way(),
            column("IN USE", &|project| shown(project.in_use)),
            column("WARM", &|project| shown(project.warm)),
            column("LOGS", &|project| shown(project.logs)),
            column("SNAPSHOTS", &snapshots),
        ]));
        lines.push(String::new());
    }
    if used.other_logs.count > 0 {
        lines.push(format!("other logs  {}", shown(used.other_logs)));
    }
    lines.push(format!("trash       {}", shown(used.trash)));
    lines.push(format!("store       {}", used.store_bytes.map_or_else(|| "on a server".to_owned(), bytes)));
    lines.push(format!("total       {}  {}", strong(&bytes(used.total_bytes)), dim(&used.home)));
    lines.join("\n")
}

fn shown(amount: Amount) -> String {
    if amount.count == 0 {
        "–".to_owned()
    } else {
        format!("{} in {}", bytes(amount.bytes), count(amount.count, "folder"))
    }
}
