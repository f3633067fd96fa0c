//! A workflow that is followed: one line for each stage.

use std::collections::BTreeMap;

use fleet_api::verbs::workflow_show::Request;
use fleet_api::views::{StageView, WorkflowDetail};
use fleet_core::id::WorkflowId;
use fleet_core::problem::Outcome;
use fleet_core::text::{escaped, shortened};
use fleet_core::time::Millis;
use fleet_core::workflow::PartState;

use super::screen::narrowed;
use super::words::span;
use super::{End, LOOK, Subject, stay};
use crate::commands::Context;
use crate::output::{Column, ago, count, dim, paint_status, strong, table};

/// Shows a workflow until it is over, until nothing happens any more unless a person acts, or until Ctrl-C.
pub(crate) async fn follow_workflow(context: &Context, id: WorkflowId) -> Outcome<(WorkflowDetail, End)> {
    let request = Request { id: id.to_string(), ..Request::default() };
    stay(context, &mut Stages { context, request, told: BTreeMap::new() }).await
}

struct Stages<'a> {
    context: &'a Context,
    request: Request,
    /// What was told of each stage: its status, and which attempt it was.
    told: BTreeMap<String, (String, i64)>,
}

impl Subject for Stages<'_> {
    type Seen = WorkflowDetail;

    async fn look(&mut self) -> Outcome<WorkflowDetail> {
        let seen = self.context.call(self.request.clone()).await?;
        (self.request.after, self.request.wait_seconds) = (Some(seen.next), Some(LOOK));
        Ok(seen.workflow)
    }

    fn is_over(&self, seen: &WorkflowDetail) -> bool {
        seen.is_at_rest()
    }

    fn is_queued(&self, seen: &WorkflowDetail) -> bool {
        seen.stages.iter().any(|stage| matches!(stage.status.as_str(), "ready" | "scheduled"))
    }

    fn block(&self, seen: &WorkflowDetail, room: Option<usize>, now: Millis) -> Vec<String> {
        let shown = most_telling(&seen.stages, room.unwrap_or(usize::MAX));
        let mut lines = narrowed(&["BRANCH", "AGENT"], |without| lay_out(&shown, now, without));
        if shown.len() < seen.stages.len() {
            lines.push(dim(&rest(&seen.stages, &shown)));
        }
        lines
    }

    fn news(&mut self, seen: &WorkflowDetail, _now: Millis) -> Vec<String> {
        let mut news = Vec::new();
        for stage in &seen.stages {
            // What nobody waits for yet is not told: it will be.
            if stage.state == PartState::Pending {
                continue;
            }
            let is = (stage.status.clone(), stage.attempts);
            if self.told.insert(stage.name.clone(), is.clone()) != Some(is) {
                news.push(line(stage));
            }
        }
        news
    }
}

fn line(stage: &StageView) -> String {
    let details = match stage.state {
        PartState::Running if stage.status == "running" => agent(stage),
        PartState::Done => match (took(stage), &stage.branch) {
            (Some(took), Some(branch)) => format!("in {took}, on {branch}"),
            (Some(took), None) => format!("in {took}"),
            (None, _) => String::new(),
        },
        _ => activity(stage),
    };
    let pad = " ".repeat(9_usize.saturating_sub(stage.status.len()));
    let line = format!(
        "{}{pad}  {}  {}",
        paint_status(&stage.status),
        strong(&escaped(&stage.name)),
        escaped(&details)
    );
    line.trim_end().to_owned()
}

fn lay_out(stages: &[&StageView], now: Millis, without: &[&str]) -> Vec<String> {
    let column = |name: &'static str, cell: &dyn Fn(&StageView) -> String| {
        let is_shown = !without.contains(&name);
        let cells = stages.iter().map(|stage| if is_shown { cell(stage) } else { String::new() });
        Column::new(name, cells.collect::<Vec<_>>())
    };
    let columns = vec![
        column("STAGE", &|stage| stage.name.clone()).giving_way(),
        // As wide as the longest state, so that the columns stay where they are.
        column("STATE    ", &|stage| stage.status.clone()).painted(paint_status),
        column("AGENT", &agent).giving_way(),
        column("TIME  ", &|stage| elapsed(stage, now)).painted(dim),
        column("BRANCH", &|stage| stage.branch.clone().unwrap_or_default()).naming(),
        column("ACTIVITY", &activity).giving_way(),
    ];
    table(columns).lines().map(ToOwned::to_owned).collect()
}

/// Who does it.
pub(crate) fn agent(stage: &StageView) -> String {
    match (&stage.agent, &stage.model) {
        (Some(agent), Some(model)) => format!("{agent}/{model}"),
        (Some(agent), None) => agent.clone(),
        (None, Some(model)) => format!("-/{model}"),
        (None, None) => String::new(),
    }
}

/// How long it takes or took, from the moment on at which it became a task.
pub(crate) fn elapsed(stage: &StageView, now: Millis) -> String {
    let end = stage.ended_at.map_or(now, |at| at.0);
    stage.started_at.map(|at| ago(at.0, end)).unwrap_or_default()
}

fn took(stage: &StageView) -> Option<String> {
    Some(span(stage.started_at?.0, stage.ended_at?.0))
}

/// What it is at, or why it is where it is.
fn activity(stage: &StageView) -> String {
    let attempt = match stage.attempts {
        0 | 1 => String::new(),
        number => format!("attempt {number}: "),
    };
    match stage.state {
        PartState::Pending => match stage.needs.as_slice() {
            [] => String::new(),
            needs => format!("after {}", needs.join(", ")),
        },
        PartState::Running if stage.status == "running" => {
            let percent = stage.percent.map(|percent| format!("{percent}% ")).unwrap_or_default();
            format!("{attempt}{percent}{}", stage.activity.as_deref().unwrap_or_default())
                .trim_end()
                .to_owned()
        }
        PartState::Done => stage.summary.clone().or_else(|| stage.activity.clone()).unwrap_or_default(),
        PartState::Running | PartState::Failed | PartState::Cancelled | PartState::Skipped => {
            stage.why.as_deref().map(cause).unwrap_or_default()
        }
    }
}

/// So much of a cause is said in a line; `fleet why` has all of it.
const CAUSE: usize = 160;

/// The first line of what went wrong: the rest is the output of some program.
pub(crate) fn cause(why: &str) -> String {
    let first = why.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let more = if why.trim().lines().nth(1).is_some() { " …" } else { "" };
    format!("{}{more}", shortened(first, CAUSE))
}

/// So many of them at most, in their order; those at work come first, then those that wait for somebody.
fn most_telling(stages: &[StageView], room: usize) -> Vec<&StageView> {
    let rank = |stage: &StageView| match (stage.state, stage.status.as_str()) {
        (PartState::Running, "running") => 0,
        (PartState::Running, _) => 1,
        (PartState::Failed, _) => 2,
        (PartState::Pending, _) => 3,
        _ => 4,
    };
    let mut ranked: Vec<usize> = (0..stages.len()).collect();
    ranked.sort_by_key(|at| (rank(&stages[*at]), *at));
    ranked.truncate(room);
    ranked.sort_unstable();
    ranked.into_iter().map(|at| &stages[at]).collect()
}

/// What is not shown, in words.
fn rest(stages: &[StageView], shown: &[&StageView]) -> String {
    let hidden = stages.iter().filter(|one| !shown.iter().any(|other| other.name == one.name));
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for one in hidden {
        match counts.iter_mut().find(|(status, _)| *status == one.status) {
            Some((_, number)) => *number += 1,
            None => counts.push((&one.status, 1)),
        }
    }
    let words: Vec<String> = counts.iter().map(|(status, number)| format!("{number} {status}")).collect();
    format!("… and {} more: {}", count(stages.len() - shown.len(), "stage"), words.join(", "))
}
