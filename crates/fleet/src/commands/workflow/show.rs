use clap::Args;
use fleet_api::verbs::workflow_show::{Depth, Request};
use fleet_api::views::{StageView, WorkflowDetail};
use fleet_core::text::{escaped, escaped_lines};
use fleet_core::time::Millis;
use fleet_core::workflow::PartState;
use fleet_engine::clock;

use super::super::Context;
use super::list;
use crate::Done;
use crate::follow::stages::{agent, elapsed};
use crate::output::{
    TITLE, ago, arrows, columns, cost, dim, fields, paint_status, strong, table, tokens, usage,
};

/// Show a workflow: its stages, their state and usage, and what to do next
#[derive(Debug, Args)]
#[command(display_order = 50)]
pub(crate) struct Show {
    #[command(flatten)]
    request: Request,
}

impl Show {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let request = Request { depth: Depth::Results, ..self.request };
        let shown = context.call(request).await?.workflow;
        context.output.show(&shown, || render(&shown, clock::now()))
    }
}

fn render(shown: &WorkflowDetail, now: Millis) -> String {
    let workflow = &shown.workflow;
    let head = format!("{}  {}", strong(workflow.id.as_str()), strong(&escaped(&workflow.name)));
    let parts = [head, about(shown, now), stages(&shown.stages, now), arrows(&shown.next)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn about(shown: &WorkflowDetail, now: Millis) -> String {
    let workflow = &shown.workflow;
    let why = workflow.why.as_deref().map(|why| format!("  {}", escaped(why))).unwrap_or_default();
    let task = escaped_lines(shown.task.trim_end()).lines().take(1).collect::<String>();
    let more = if shown.task.trim_end().lines().nth(1).is_some() { " …" } else { "" };
    let params: Vec<String> =
        shown.params.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect();
    fields(&[
        ("state", format!("{}{why}", paint_status(workflow.state.as_str()))),
        ("stages", format!("{} finished", list::progress(workflow))),
        ("task", format!("{task}{more}")),
        ("params", params.join(" ")),
        ("project", escaped(&shown.project_name).into_owned()),
        ("base", workflow.base.clone()),
        ("time", list::elapsed(workflow, now)),
        ("started", format!("{} ago", ago(workflow.created_at.0, now))),
        ("used", used(&shown.stages)),
    ])
}

fn used(stages: &[StageView]) -> String {
    let sum = |of: fn(&StageView) -> u64| stages.iter().map(of).sum::<u64>();
    usage(sum(|stage| stage.input_tokens), sum(|stage| stage.output_tokens), sum(|stage| stage.micro_usd))
}

fn stages(stages: &[StageView], now: Millis) -> String {
    let column = columns(stages);
    table(vec![
        column("STAGE", &|stage| stage.name.clone()).naming(),
        column("STATE", &|stage| stage.status.clone()).painted(paint_status),
        column("AGENT", &agent).giving_way().optional(),
        column("TIME", &|stage| elapsed(stage, now)).painted(dim),
        column("TOKENS", &|stage| tokens(stage.input_tokens + stage.output_tokens)).painted(dim).optional(),
        column("COST", &|stage| cost(stage.micro_usd)).painted(dim).optional(),
        column("TASK", &|stage| stage.task.map(|id| id.to_string()).unwrap_or_default()).optional(),
        column("BRANCH", &|stage| stage.branch.clone().unwrap_or_default()).naming(),
        column("SUMMARY", &summary).keeping(TITLE),
    ])
}

fn summary(stage: &StageView) -> String {
    let text = match stage.state {
        PartState::Pending if !stage.needs.is_empty() => {
            return format!("after {}", stage.needs.join(", "));
        }
        PartState::Done => stage.summary.as_ref().or(stage.activity.as_ref()),
        PartState::Running if stage.why.is_none() => stage.activity.as_ref(),
        _ => stage.why.as_ref(),
    };
    text.map(|text| text.trim().lines().next().unwrap_or_default().to_owned()).unwrap_or_default()
}
