use clap::Args;
use fleet_api::verbs::workflow_list::{Answer, Request};
use fleet_api::views::WorkflowView;
use fleet_core::time::Millis;
use fleet_engine::clock;

use super::super::Context;
use crate::Done;
use crate::output::{ago, columns, dim, paint_status, table};

/// List workflows, the newest first
#[derive(Debug, Args)]
#[command(visible_alias = "ls", after_help = EXAMPLES)]
#[command(display_order = 40)]
pub(crate) struct List {
    #[command(flatten)]
    request: Request,
}

const EXAMPLES: &str = "Examples:
  fleet workflow list --all
  fleet workflow list --state failed -A
  fleet workflow list --json | jq -r '.workflows[].id'";

impl List {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let request = self.request;
        let narrowed = !request.states.is_empty() || request.before.is_some();
        let (all, all_projects) = (request.all, request.all_projects);
        let list = context.call(request).await?;
        let empty = match (narrowed, all) {
            (true, _) => "no workflow matches; `fleet workflow list --all` shows all of them",
            (false, true) => {
                "no workflows; `fleet workflow run NAME` runs one, `fleet workflow init --list` shows some"
            }
            (false, false) => "no workflow is running; `fleet workflow list --all` shows finished ones",
        };
        let empty = list.workflows.is_empty().then_some(empty);
        let more = list.next.map(|next| format!("there are more: `--before {next}` shows them"));
        context.output.show_list(&list, empty, || render(&list, all_projects, clock::now()), more)
    }
}

fn render(list: &Answer, all_projects: bool, now: Millis) -> String {
    let column = columns(&list.workflows);
    let project = |workflow: &WorkflowView| list.projects.get(&workflow.project).cloned().unwrap_or_default();
    let mut shown = vec![
        column("ID", &|workflow| workflow.id.to_string()),
        column("STATE", &|workflow| workflow.state.to_string()).painted(paint_status),
        column("STAGES", &|workflow| progress(workflow)),
        column("TIME", &|workflow| elapsed(workflow, now)).painted(dim),
        column("AGE", &|workflow| ago(workflow.created_at.0, now)).painted(dim).optional(),
        column("NAME", &|workflow| workflow.name.clone()).naming(),
        column("NOTE", &|workflow| workflow.why.clone().unwrap_or_default()).giving_way(),
    ];
    if all_projects {
        shown.insert(5, column("PROJECT", &project).naming());
    }
    table(shown)
}

/// How many of its stages are over, of all that are known by now.
pub(super) fn progress(workflow: &WorkflowView) -> String {
    format!("{}/{}", workflow.progress.over(), workflow.progress.total)
}

pub(super) fn elapsed(workflow: &WorkflowView, now: Millis) -> String {
    ago(workflow.created_at.0, workflow.ended_at.map_or(now, |at| at.0))
}
