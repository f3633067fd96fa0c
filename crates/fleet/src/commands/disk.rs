//! `fleet disk`

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use clap::Args;
use fleet_engine::verbs::disk::{self, Amount, ProjectDisk, Response};

use super::Context;
use super::counting::counting;
use crate::Done;
use crate::output::{Column, bytes, count, dim, strong, table};

/// Show how much of the disk everything uses
///
/// Workspaces that agents work in, workspaces that are kept warm for the next ones, logs of runs, what is being removed,
/// and the store. Snapshots are counted: they share their content with your repository.
#[derive(Debug, Args)]
pub(crate) struct Disk {}

impl Disk {
    pub(crate) async fn run(context: &Context) -> Done {
        let seen = Arc::new(AtomicU64::new(0));
        let used = counting(&seen, disk::run(&context.engine, &seen)).await?;
        context.output.show(&used, || said(&used))
    }
}

fn said(used: &Response) -> String {
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
    lines.push(format!(
        "total       {}  {}",
        strong(&bytes(used.total_bytes)),
        dim(&used.home.display().to_string())
    ));
    lines.join("\n")
}

fn shown(amount: Amount) -> String {
    if amount.count == 0 {
        "–".to_owned()
    } else {
        format!("{} in {}", bytes(amount.bytes), count(amount.count, "folder"))
    }
}
