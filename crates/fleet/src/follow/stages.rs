//! A workflow that is followed: one line for each stage.

use fleet_api::verbs::workflow_show::Request;
use fleet_api::views::{StageView, WorkflowDetail};
use fleet_core::id::WorkflowId;
use fleet_core::problem::Outcome;
use fleet_core::text::{escaped, shortened};
use fleet_core::time::Millis;
use fleet_core::workflow::PartState;

use super::rows::{Cells, FollowedRow, RowFacts};
use super::words::span;
use super::{FollowEnd, FollowSubject, POLL_SECONDS, stay};
use crate::commands::Context;
use crate::output::{Column, agent_and_model, ago, dim, paint_status, strong};

/// Shows a workflow until it is over, until nothing happens any more unless a person acts, or until Ctrl-C.
pub(crate) async fn follow_workflow(
    context: &Context,
    id: WorkflowId,
) -> Outcome<(WorkflowDetail, FollowEnd)> {
    let request = Request { id: id.to_string(), ..Request::default() };
    stay(context, &mut Stages { context, request }).await
}

struct Stages<'a> {
    context: &'a Context,
    request: Request,
}

impl FollowSubject for Stages<'_> {
    type Seen = WorkflowDetail;
    type Row = StageView;

    fn rows(seen: &WorkflowDetail) -> &[StageView] {
        &seen.stages
    }

    async fn look(&mut self) -> Outcome<WorkflowDetail> {
        let seen = self.context.call(self.request.clone()).await?;
        (self.request.after, self.request.wait_seconds) = (Some(seen.next), Some(POLL_SECONDS));
        Ok(seen.workflow)
    }

    fn is_over(&self, seen: &WorkflowDetail) -> bool {
        seen.is_at_rest()
    }

    fn is_queued(&self, seen: &WorkflowDetail) -> bool {
        seen.stages.iter().any(|stage| matches!(stage.status.as_str(), "ready" | "scheduled"))
    }
}

impl FollowedRow for StageView {
    const NOUN: &'static str = "stage";
    const OPTIONAL: [&'static str; 2] = ["BRANCH", "AGENT"];

    fn facts(&self) -> RowFacts<'_> {
        // Those at work come first, then those that wait for somebody.
        let rank = match (self.state, self.status.as_str()) {
            (PartState::Running, "running") => 0,
            (PartState::Running, _) => 1,
            (PartState::Failed, _) => 2,
            (PartState::Pending, _) => 3,
            _ => 4,
        };
        RowFacts { key: &self.name, status: &self.status, attempts: self.attempts, rank }
    }

    /// A stage that waits for others is told when it does not any more.
    fn line(&self, _now: Millis) -> Option<String> {
        (self.state != PartState::Pending).then(|| line(self))
    }

    fn columns(cells: &Cells<'_, Self>, now: Millis) -> Vec<Column> {
        vec![
            cells.column("STAGE", &|stage| stage.name.clone()).giving_way(),
            // As wide as the longest state, so that the columns stay where they are.
            cells.column("STATE    ", &|stage| stage.status.clone()).painted(paint_status),
            cells.column("AGENT", &agent).giving_way(),
            cells.column("TIME  ", &|stage| elapsed(stage, now)).painted(dim),
            cells.column("BRANCH", &|stage| stage.branch.clone().unwrap_or_default()).naming(),
            cells.column("ACTIVITY", &activity).giving_way(),
        ]
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

pub(crate) fn agent(stage: &StageView) -> String {
    agent_and_model(stage.agent.as_deref(), stage.model.as_deref())
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
