use std::collections::BTreeSet;

use clap::Args;
use fleet_api::verbs::runner_missing::Unattended;
use fleet_api::verbs::runner_status::{Answer, Request};
use fleet_api::views::NeedsYou;
use fleet_core::text::escaped;

use super::Context;
use crate::Done;
use crate::output::{Column, ago, arrows, count, dim, money, paint_status, strong, table, until, warn};

/// Show what needs you, runners, counts, pauses and spending
#[derive(Debug, Args)]
#[command(display_order = 230)]
pub(crate) struct Status {}

impl Status {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self {} = self;
        // First: a runner that is started now may be up already when one looks.
        let unattended = context.tell_unattended().await;
        let status = context.call(Request::default()).await?;
        context.output.show(&status, || render(&status, unattended, context))
    }
}

fn render(status: &Answer, unattended: Option<Unattended>, context: &Context) -> String {
    let mut lines: Vec<String> = status
        .runners
        .iter()
        .map(|runner| {
            let place = if runner.background { "in the background" } else { "in the foreground" };
            let since = ago(runner.started_at.0, context.engine.now());
            let slots = count(runner.slots as usize, "slot");
            let name = strong(&runner.name);
            let outdated = if runner.outdated { "; older than the store: starts no more agents" } else { "" };
            // An agent is not told.
            let pid = if runner.pid == 0 { String::new() } else { format!(" pid {},", runner.pid) };
            format!("runner {name}  {slots}, {place},{pid} up {since}{outdated}")
        })
        .collect();
    for runner in &status.runners {
        let shortage = runner.shortage.iter().map(|text| format!("no agent is started for now: {text}"));
        lines.extend(shortage.map(|line| warn(&format!("! {}: {line}", runner.name))));
    }
    if lines.is_empty() {
        lines.extend(no_runner(unattended).map(ToOwned::to_owned));
    }
    if status.frozen {
        lines.push(warn("! every agent is frozen: `fleet unfreeze` lets them continue"));
    }
    let more = if status.ready_more { "more than " } else { "" };
    let ready = count(status.ready, "task");
    let interactive = match status.interactive {
        0 => String::new(),
        number => format!(" ({number} in {})", if number == 1 { "a terminal" } else { "terminals" }),
    };
    lines.push(format!("{} running{interactive}, {more}{ready} ready", count(status.running, "agent")));
    if !status.missing_agents.is_empty() {
        let names = status.missing_agents.join("`, `");
        let who = if status.ready == 1 && !status.ready_more { "it waits" } else { "some of them wait" };
        lines.push(format!("{who} for an agent that cannot be started here: `{names}`"));
    }
    for path in &status.missing_repositories {
        lines.push(format!(
            "agents cannot work in {}, and ready tasks need it (`fleet doctor`)",
            escaped(path)
        ));
    }
    lines.extend(status.queue_paused.iter().map(|pause| warn(&escaped(&pause.sentence()))));
    for pause in &status.paused {
        let left = until(pause.until.0, context.engine.now());
        lines.push(format!("{} is paused and continues {left}: {}", pause.account, escaped(&pause.why)));
    }
    lines.extend(needs_you(status));
    for warning in &status.warnings {
        lines.push(warn(&format!("! {}: {}", warning.run, escaped(&warning.text))));
    }
    if status.spent_today > 0 || status.budget_today.is_some() {
        let of = status.budget_today.map(|most| format!(" of {}", money(most))).unwrap_or_default();
        lines.push(format!("{}{of} used today", money(status.spent_today)));
    }
    if !status.log.is_empty() {
        lines.push(dim(&format!("log: {}", status.log)));
    }
    lines.join("\n")
}

/// What does not continue without a person, and what to do about it.
fn needs_you(status: &Answer) -> Vec<String> {
    if status.needs_you.is_empty() {
        return Vec::new();
    }
    let cells = |cell: fn(&NeedsYou) -> String| status.needs_you.iter().map(cell).collect::<Vec<_>>();
    let rows = table(vec![
        Column::new("ID", cells(|one| one.task.short().to_owned())),
        Column::new("BRANCH", cells(|one| one.branch.clone())).naming(),
        Column::new("STATUS", cells(|one| one.status.clone())).painted(paint_status),
        Column::new("WHY", cells(|one| one.why.clone())).giving_way(),
    ]);
    let next: BTreeSet<String> = status.needs_you.iter().map(next).collect();
    let mut lines = vec![String::new(), strong("needs you"), rows, arrows(&Vec::from_iter(next))];
    if status.needs_you_more {
        lines.push(dim("there are more: `fleet inbox` lists them"));
    }
    lines.push(String::new());
    lines
}

/// The same advice for all of a kind.
fn next(one: &NeedsYou) -> String {
    let next =
        one.question.as_ref().map_or_else(|| one.next.clone(), |asked| one.next.replace(&asked.id, "ID"));
    next.replace(one.task.as_str(), "ID")
}

/// What is said instead of runners; nothing where a note has said it already.
fn no_runner(unattended: Option<Unattended>) -> Option<&'static str> {
    match unattended {
        Some(Unattended { started: true, .. }) => Some("a runner is starting"),
        Some(_) => None,
        None => Some("no runner is up; `fleet start` starts one, `fleet run` runs one here"),
    }
}
