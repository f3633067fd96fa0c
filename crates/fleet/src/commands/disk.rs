use clap::Args;
use fleet_api::verbs::disk::{Amount, Answer, ProjectDisk, Request};

use super::Context;
use super::waiting::waiting;
use crate::Done;
use crate::output::{Column, bytes, count, dim, strong, table};

/// Show how much of the disk everything uses
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
        context.output.show(&used, || said(&used))
    }
}

fn said(used: &Answer) -> String {
    let mut lines = Vec::new();
    if !used.projects.is_empty() {
        let cells =
            |cell: &dyn Fn(&ProjectDisk) -> String| used.projects.iter().map(cell).collect::<Vec<_>>();
        let name = |project: &ProjectDisk| {
            let gone = if project.exists { "" } else { " (gone)" };
            format!("{}{gone}", project.name)
        };
        let snapshots =
            |project: &ProjectDisk| project.snapshots.map_or_else(String::new, |count| count.to_string());
        lines.push(table(vec![
            Column::new("PROJECT", cells(&name)).giving_way(),
            Column::new("IN USE", cells(&|project| shown(project.in_use))),
            Column::new("WARM", cells(&|project| shown(project.warm))),
            Column::new("LOGS", cells(&|project| shown(project.logs))),
            Column::new("SNAPSHOTS", cells(&snapshots)),
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
