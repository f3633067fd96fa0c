use clap::Args;
use fleet_api::verbs::gc::{Answer, Item, Kind, Request};
use fleet_core::problem::{Code, Problem};
use fleet_core::text::escaped;
use fleet_core::time::Span;
use fleet_engine::sweep;

use super::Context;
use super::consent::spared;
use super::waiting::waiting;
use crate::Done;
use crate::output::{Column, bytes, count, table};

/// Give disk space back: trash, spare workspaces, old logs, old snapshots
///
/// Work that has not landed stays: at least its last snapshot is kept for ever. Shows what would go and asks; without a
/// terminal it only shows. What is large moves aside and is removed in the background.
#[derive(Debug, Args)]
#[command(display_order = 260)]
pub(crate) struct Gc {
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Logs and snapshots of runs that ended longer ago than this
    #[arg(long, value_name = "TIME", default_value = "14d")]
    older_than: String,
    /// Empty the trash (started in the background)
    #[arg(long, hide = true)]
    sweep: bool,
}

impl Gc {
    pub(crate) async fn run(self, context: &Context) -> Done {
        if self.sweep {
            // Away from the terminal that started it: its Ctrl-C and its end are not ours.
            let _ = fleet_engine::detach();
            return sweep::run(&context.engine).await;
        }
        let span: Result<Span, _> = self.older_than.parse();
        let older_than =
            span.map_err(|error| Problem::new(Code::InvalidValue, format!("older-than: {error}")))?.0;
        let look = Request { older_than_seconds: older_than.as_secs(), remove: None };
        let plan = waiting(context.call(look.clone())).await?;
        if plan.removed.is_empty() {
            return context.output.show(&plan, || "nothing to remove".to_owned());
        }
        if !self.yes {
            context.output.note(&listed(&plan.removed));
        }
        let freed = bytes(plan.removed.iter().map(|item| item.bytes).sum());
        if let Some(why) = spared(context, self.yes, &format!("Remove all this ({freed})?"), Some(&freed)) {
            return context.output.show(&plan, || why);
        }
        let done = waiting(context.call(Request { remove: Some(plan.removed), ..look })).await?;
        context.output.show(&done, || said(&done))
    }
}

fn kind(item: &Item) -> String {
    let what = match item.kind {
        Kind::Trash => "trash",
        Kind::Worktree => "worktree",
        Kind::Logs => "logs",
        Kind::Snapshots => return count(item.count, "snapshot"),
        Kind::Files => return count(item.count, "file"),
    };
    what.to_owned()
}

fn listed(items: &[Item]) -> String {
    let cells = |cell: &dyn Fn(&Item) -> String| items.iter().map(cell).collect::<Vec<_>>();
    let amount = |item: &Item| if item.bytes == 0 { String::new() } else { bytes(item.bytes) };
    table(vec![
        Column::new("REMOVE", cells(&kind)),
        Column::new("SIZE", cells(&amount)),
        Column::new("WHY", cells(&|item| item.why.clone())),
        Column::new("WHAT", cells(&|item| item.what.clone())).giving_way(),
    ])
}

fn said(done: &Answer) -> String {
    let freed = bytes(done.removed.iter().map(|item| item.bytes).sum());
    let mut lines = vec![format!(
        "removed {}, {freed}; what is large goes in the background",
        count(done.removed.len(), "thing")
    )];
    lines.extend(done.failed.iter().map(|one| format!("kept {}: {}", escaped(&one.what), escaped(&one.why))));
    lines.join("\n")
}
