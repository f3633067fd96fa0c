use clap::Args;
use fleet_api::verbs::gc::{Answer, GcItem, GcKind, Request};
use fleet_core::text::escaped;
use fleet_engine::sweep;

use super::Context;
use super::consent::confirm_removal;
use super::waiting::waiting;
use crate::Done;
use crate::output::{bytes, columns, count, table};

/// Free disk space: trash, spare workspaces, old logs, old snapshots
///
/// Unlanded work is kept: at least its last snapshot is never removed. Shows what would go and asks; without a
/// terminal it only shows. Large folders are removed in the background.
#[derive(Debug, Args)]
#[command(display_order = 260)]
pub(crate) struct Gc {
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    request: Request,
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
        let plan = waiting(context.call(self.request.clone())).await?;
        if plan.removed.is_empty() {
            return context.output.show(&plan, || "nothing to remove".to_owned());
        }
        let freed = bytes(plan.removed.iter().map(|item| item.bytes).sum());
        let question = format!("Remove all this ({freed})?");
        if let Some(why) = confirm_removal(context, self.yes, &listed(&plan.removed), &question, Some(&freed))
        {
            return context.output.show(&plan, || why);
        }
        let done = waiting(context.call(Request { remove: Some(plan.removed), ..self.request })).await?;
        context.output.show(&done, || render(&done))
    }
}

fn kind(item: &GcItem) -> String {
    let what = match item.kind {
        GcKind::Trash => "trash",
        GcKind::Worktree => "worktree",
        GcKind::Logs => "logs",
        GcKind::Snapshots => return count(item.count, "snapshot"),
        GcKind::Files => return count(item.count, "file"),
    };
    what.to_owned()
}

fn listed(items: &[GcItem]) -> String {
    let column = columns(items);
    let amount = |item: &GcItem| if item.bytes == 0 { String::new() } else { bytes(item.bytes) };
    table(vec![
        column("REMOVE", &kind),
        column("SIZE", &amount),
        column("WHY", &|item| item.why.clone()),
        column("WHAT", &|item| item.what.clone()).giving_way(),
    ])
}

fn render(done: &Answer) -> String {
    let freed = bytes(done.removed.iter().map(|item| item.bytes).sum());
    let mut lines = vec![format!(
        "removed {}, {freed}; large folders go in the background",
        count(done.removed.len(), "thing")
    )];
    lines.extend(done.failed.iter().map(|one| format!("kept {}: {}", escaped(&one.what), escaped(&one.why))));
    lines.join("\n")
}
