use clap::Args;
use fleet_api::verbs::clean::{Answer, Request};
use fleet_api::views::{Kept, Leftover};
use fleet_core::text::escaped;

use super::Context;
use super::consent::confirm_removal;
use crate::Done;
use crate::output::{columns, count, dim, table};

/// Remove the branches and folders of runs whose work has landed
///
/// Looks at the finished runs of this repository. A branch goes when the current commit or the main branch contains
/// it or has the same content. Running agents, unfinished tasks, branches that are checked out, and branches that
/// no agent made are never touched. Shows what would go and asks; without a terminal it only shows.
#[derive(Debug, Args)]
#[command(display_order = 240)]
pub(crate) struct Clean {
    #[command(flatten)]
    request: Request,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl Clean {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let request = self.request;
        let plan = context.call(Request { dry_run: true, ..request.clone() }).await?;
        if plan.removed.is_empty() {
            return context.output.show(&plan, || nothing(&plan));
        }
        if let Some(why) = confirm_removal(context, self.yes, &listed(&plan), &question(&plan.removed), None)
        {
            return context.output.show(&plan, || why);
        }
        let done = context.call(Request { confirmed: Some(plan.removed), ..request }).await?;
        context.output.show(&done, || render(&done))
    }
}

pub(super) fn question(items: &[Leftover]) -> String {
    let branches = items.iter().filter(|item| item.branch.is_some()).count();
    let unlanded = items.iter().filter(|item| !item.landed).count();
    let but = match unlanded {
        0 => String::new(),
        number => format!(" ({number} not landed; `fleet undo` restores them)"),
    };
    match branches {
        0 => format!("Remove the folders of {}?", count(items.len(), "task")),
        number => format!("Remove {}{but}?", count(number, "branch").replace("branchs", "branches")),
    }
}

fn nothing(plan: &Answer) -> String {
    if plan.kept.is_empty() {
        return "nothing to remove".to_owned();
    }
    format!("nothing to remove; kept:\n{}", stays(&plan.kept))
}

fn listed(plan: &Answer) -> String {
    let goes = goes(&plan.removed);
    if plan.kept.is_empty() { goes } else { format!("{goes}\n\n{}", stays(&plan.kept)) }
}

pub(super) fn goes(items: &[Leftover]) -> String {
    let column = columns(items);
    table(vec![
        column("REMOVE", &|item| item.branch.clone().unwrap_or_else(|| format!("folder of {}", item.task))),
        column("WHY", &|item| item.why.clone()),
        column("TITLE", &|item| item.title.clone().unwrap_or_default()).giving_way(),
    ])
}

pub(super) fn stays(kept: &[Kept]) -> String {
    let column = columns(kept);
    table(vec![
        column("KEEP", &|kept| kept.branch.clone().unwrap_or_else(|| kept.task.to_string())),
        column("WHY", &|kept| kept.why.clone()),
        column("TITLE", &|kept| kept.title.clone().unwrap_or_default()).giving_way(),
    ])
}

fn render(done: &Answer) -> String {
    let mut lines: Vec<String> = done.removed.iter().map(removed).collect();
    if !done.kept.is_empty() {
        lines.push(format!("\n{}", stays(&done.kept)));
    }
    lines.join("\n")
}

pub(super) fn removed(item: &Leftover) -> String {
    let what = item
        .branch
        .as_ref()
        .map_or_else(|| format!("the folder of {}", item.task), |name| escaped(name).into_owned());
    format!("removed {what}  {}", dim(&escaped(&item.why)))
}
