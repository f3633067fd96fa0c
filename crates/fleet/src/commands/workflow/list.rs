use clap::Args;
use fleet_api::verbs::workflow_list::{Answer, Request};
use fleet_api::views::WorkflowView;
use fleet_core::time::Millis;
use fleet_engine::clock;

use super::super::Context;
use crate::Done;
use crate::output::{Column, ago, dim, paint_status, table};

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
        if list.workflows.is_empty() && !context.output.is_json() {
            context.output.note(match (narrowed, all) {
                (true, _) => "no workflow fits; `fleet workflow list --all` shows every one",
                (false, true) => "no workflows yet; `fleet workflow run NAME` runs one, `fleet workflow init --list` shows some",
                (false, false) => "no workflow is at work; `fleet workflow list --all` shows those that are over",
            });
            return Ok(());
        }
        context.output.show(&list, || render(&list, all_projects, clock::now()))?;
        if let Some(next) = list.next {
            context.output.note(&dim(&format!("there are more: `--before {next}` shows them")));
        }
        Ok(())
    }
}

fn render(list: &Answer, all_projects: bool, now: Millis) -> String {
    let column = |cell: &dyn Fn(&WorkflowView) -> String| list.workflows.iter().map(cell).collect::<Vec<_>>();
    let project = |workflow: &WorkflowView| list.projects.get(&workflow.project).cloned().unwrap_or_default();
    let mut columns = vec![
        Column::new("ID", column(&|workflow| workflow.id.to_string())),
        Column::new("STATE", column(&|workflow| workflow.state.to_string())).painted(paint_status),
        Column::new("STAGES", column(&|workflow| progress(workflow))),
        Column::new("TIME", column(&|workflow| elapsed(workflow, now))).painted(dim),
        Column::new("AGE", column(&|workflow| ago(workflow.created_at.0, now))).painted(dim).spare(),
        Column::new("NAME", column(&|workflow| workflow.name.clone())).naming(),
        Column::new("NOTE", column(&|workflow| workflow.why.clone().unwrap_or_default())).giving_way(),
    ];
    if all_projects {
        columns.insert(5, Column::new("PROJECT", column(&project)).naming());
    }
    table(columns)
}

/// How many of its stages are over, of all that are known by now.
pub(super) fn progress(workflow: &WorkflowView) -> String {
    format!("{}/{}", workflow.progress.over(), workflow.progress.total)
}

/// How long it takes or took.
pub(super) fn elapsed(workflow: &WorkflowView, now: Millis) -> String {
    ago(workflow.created_at.0, workflow.ended_at.map_or(now, |at| at.0))
}
