use clap::Args;
use fleet_api::verbs::keep::{Answer, Request};
use fleet_api::views::TaskView;
use fleet_core::task::TaskState;
use fleet_core::text::escaped;

use super::Context;
use super::clean::{goes, removed, stays};
use super::consent::require_consent;
use crate::Done;
use crate::output::{Column, arrows, count, dim, paint_status, strong, table};

/// Keep one attempt of a fan-out and drop the others
///
/// The others are the tasks that were launched together with it on the same prompt. Running ones are stopped, then
/// their branches and folders are removed. Everything stays as snapshots: `fleet undo BRANCH` restores a dropped one.
/// Branches with later commits of yours, and branches that are checked out, stay.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 135)]
pub(crate) struct Keep {
    #[command(flatten)]
    request: Request,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

const EXAMPLES: &str = "Examples:
  fleet keep login-B
  fleet keep login-B --yes && git merge login-B";

impl Keep {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let request = self.request;
        let plan = context.call(Request { dry_run: true, ..request.clone() }).await?;
        if !self.yes {
            context.output.note(&listed(&plan));
        }
        if !require_consent(context, self.yes, &question(&plan), "nothing was dropped")? {
            return context.output.show(&plan, || "nothing was dropped".to_owned());
        }
        let stopped = plan.stopped.iter().map(|task| task.id);
        let confirmed = Some(stopped.chain(plan.removed.iter().map(|item| item.task)).collect());
        let done = context.call(Request { confirmed, ..request }).await?;
        context.output.show(&done, || render(&done))
    }
}

fn listed(plan: &Answer) -> String {
    let mut parts = vec![format!("keep {}", strong(&escaped(&plan.branch)))];
    if !plan.stopped.is_empty() {
        let cells = |cell: fn(&TaskView) -> String| plan.stopped.iter().map(cell).collect::<Vec<_>>();
        parts.push(table(vec![
            Column::new("STOP", cells(|task| task.branch.clone().unwrap_or_else(|| task.id.to_string()))),
            Column::new("STATE", cells(|task| task.status.clone())).painted(paint_status),
        ]));
    }
    if !plan.removed.is_empty() {
        parts.push(goes(&plan.removed));
    }
    if !plan.kept.is_empty() {
        parts.push(stays(&plan.kept));
    }
    parts.join("\n\n")
}

fn question(plan: &Answer) -> String {
    let others = count(plan.stopped.len() + plan.removed.len(), "other");
    let running = plan.stopped.iter().filter(|task| task.state == TaskState::Running).count();
    let stop = match running {
        0 => String::new(),
        number => format!(", stop {}", count(number, "running agent")),
    };
    let checks = checks(plan).map(|told| format!(" ({told})")).unwrap_or_default();
    format!("Keep {}{checks}{stop} and drop {others} (`fleet undo` restores them)?", escaped(&plan.branch))
}

/// What came of the checks of the one that is kept.
fn checks(answer: &Answer) -> Option<String> {
    let failed = answer.checks.iter().filter(|check| !check.is_good()).count();
    match (answer.checks.len(), failed) {
        (0, _) => None,
        (all, 0) => Some(format!("{} passed", count(all, "check"))),
        (all, failed) => Some(format!("{failed} of {} failed", count(all, "check"))),
    }
}

fn render(done: &Answer) -> String {
    let checks = checks(done).map(|told| dim(&format!(" ({told})"))).unwrap_or_default();
    let mut lines = vec![format!("kept {}{checks}", strong(&escaped(&done.branch)))];
    lines.extend(done.removed.iter().map(removed));
    if !done.kept.is_empty() {
        lines.push(format!("\n{}\n", stays(&done.kept)));
    }
    let mut next = vec![if done.keep.state.is_settled() {
        format!("`git merge {}` merges it", done.branch)
    } else {
        format!(
            "it has not finished: `fleet list` shows it, `git merge {}` merges it when it is done",
            done.branch
        )
    }];
    next.extend(
        done.removed
            .iter()
            .find_map(|item| item.branch.clone())
            .map(|branch| format!("`fleet undo {branch}` restores a dropped one")),
    );
    lines.push(arrows(&next));
    lines.join("\n")
}
