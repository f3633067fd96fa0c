use clap::Args;
use fleet_api::verbs::workflow_clean::{Answer, Request};
use fleet_api::views::{Kept, WorkflowView};
use fleet_core::text::escaped;
use fleet_core::tidy::TidyReason;

use super::super::Context;
use super::super::clean::{question, removed, stays};
use super::super::consent::confirm_removal;
use crate::Done;
use crate::output::{columns, count, dim, table};

/// Remove finished workflows, with the branches and folders of their stages
///
/// A branch goes when the current commit or the main branch contains it or has the same content, and with --discard in
/// any case: then it is kept as a snapshot that `fleet undo` restores. A workflow with a branch that stays is kept,
/// and so is one that runs. Shows what would go and asks; without a terminal it only shows.
#[derive(Debug, Args)]
#[command(display_order = 100)]
pub(crate) struct Clean {
    #[command(flatten)]
    request: Request,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl Clean {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self { request, yes } = self;
        let discard = request.discard;
        let mut plan = context.call(Request { dry_run: true, ..request }).await?;
        let meant = std::mem::take(&mut plan.workflows);
        if meant.is_empty() {
            return context.output.show(&plan, || "no workflow has finished".to_owned());
        }
        let branches = Some(&plan.removed).filter(|items| !items.is_empty()).map(|items| question(items));
        let question = asked(plan.deleted.len(), branches);
        if let Some(why) = confirm_removal(context, yes, &listed(&plan, &meant), &question, None) {
            return context.output.show(&plan, || why);
        }
        let ids = meant.iter().map(|workflow| workflow.id.to_string()).collect();
        let request = Request { ids, discard, confirmed: Some(plan.removed), ..Request::default() };
        let done = Answer { workflows: Vec::new(), ..context.call(request).await? };
        context.output.show(&done, || render(&done))
    }
}

/// One question, whatever goes; `branches` is the one about these alone.
fn asked(going: usize, branches: Option<String>) -> String {
    let Some(branches) = branches else { return format!("Remove {}?", count(going, "workflow")) };
    match (going, branches.strip_prefix("Remove ")) {
        (0, _) | (_, None) => branches,
        (_, Some(rest)) => format!("Remove {} and {rest}", count(going, "workflow")),
    }
}

fn listed(plan: &Answer, meant: &[WorkflowView]) -> String {
    let column = columns(meant);
    let goes = |one: &WorkflowView| {
        let goes = plan.deleted.contains(&one.id);
        if goes { "goes" } else { "kept: has unmerged branches" }.to_owned()
    };
    let workflows = table(vec![
        column("WORKFLOW", &|one| one.id.to_string()),
        column("NAME", &|one| one.name.clone()).giving_way(),
        column("", &goes),
    ]);
    let (items, kept) = (&plan.removed, &plan.kept);
    let parts = [
        workflows,
        if items.is_empty() { String::new() } else { super::super::clean::goes(items) },
        if kept.is_empty() { String::new() } else { staying(kept) },
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn render(done: &Answer) -> String {
    let mut lines: Vec<String> =
        done.deleted.iter().map(|id| format!("removed workflow {}", escaped(id.as_str()))).collect();
    lines.extend(done.removed.iter().map(removed));
    if !done.kept.is_empty() {
        lines.push(format!("\n{}", staying(&done.kept)));
    }
    lines.join("\n")
}

/// What stays, and how it would go.
fn staying(kept: &[Kept]) -> String {
    let is_unlanded = kept.iter().any(|one| one.why == TidyReason::NotLanded.to_string());
    let more = if is_unlanded { "\n`--discard` removes these, too; `fleet undo` restores them" } else { "" };
    format!("{}{}", stays(kept), dim(more))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_question_is_asked() {
        let branches = || Some("Remove 3 branches?".to_owned());
        assert_eq!(asked(2, None), "Remove 2 workflows?");
        assert_eq!(asked(1, branches()), "Remove 1 workflow and 3 branches?");
        assert_eq!(asked(0, branches()), "Remove 3 branches?");
    }

    #[test]
    fn what_has_not_landed_says_how_it_would_go() {
        let kept = |why: TidyReason| Kept {
            task: "t0sm0wmtj03329d".parse().unwrap(),
            title: None,
            branch: None,
            why: why.to_string(),
            failed: false,
        };
        assert!(staying(&[kept(TidyReason::NotLanded)]).contains("--discard"));
        assert!(!staying(&[kept(TidyReason::WorkedOnSince)]).contains("--discard"));
    }
}
