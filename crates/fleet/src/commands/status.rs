//! `fleet status`

use clap::Args;
use fleet_core::text::escaped;
use fleet_engine::verbs::runner_status::{self, Response};

use super::Context;
use crate::Done;
use crate::output::{ago, count, dim, money, strong, until};

/// Show which runners are up and what they have to do
#[derive(Debug, Args)]
pub(crate) struct Status {}

impl Status {
    pub(crate) async fn run(context: &Context) -> Done {
        let status = runner_status::run(&context.engine).await?;
        context.output.show(&status, || said(&status, context))
    }
}

fn said(status: &Response, context: &Context) -> String {
    let mut lines: Vec<String> = status
        .runners
        .iter()
        .map(|runner| {
            let place = if runner.background { "in the background" } else { "in the foreground" };
            let since = ago(runner.started_at.0, context.engine.now());
            let slots = count(runner.slots as usize, "slot");
            format!("runner {}  {slots}, {place}, pid {}, up {since}", strong(&runner.name), runner.pid)
        })
        .collect();
    if lines.is_empty() {
        lines.push("no runner is up; `fleet start` starts one, `fleet run` runs one here".to_owned());
    }
    let more = if status.ready_more { "more than " } else { "" };
    let ready = count(status.ready, "task");
    lines.push(format!("{} at work, {more}{ready} ready", count(status.running, "agent")));
    if !status.missing_agents.is_empty() {
        let names = status.missing_agents.join("`, `");
        lines.push(format!("some of them wait for an agent that cannot be started here: `{names}`"));
    }
    for pause in &status.paused {
        let left = until(pause.until.0, context.engine.now());
        lines.push(format!("{} is paused and goes on {left}: {}", pause.account, escaped(&pause.why)));
    }
    if status.spent_today > 0 || status.budget_today.is_some() {
        let of = status.budget_today.map(|most| format!(" of {}", money(most))).unwrap_or_default();
        lines.push(format!("{}{of} used today", money(status.spent_today)));
    }
    lines.push(dim(&format!("log: {}", status.log.display())));
    lines.join("\n")
}
