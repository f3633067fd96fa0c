use std::time::Duration;

use clap::Args;
use fleet_api::verbs::run_kill::{Answer, KillOutcome, Killed, Request};
use fleet_api::verbs::run_kill_find::{self, KillTarget};
use fleet_api::verbs::run_kill_waits;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;

use super::Context;
use super::consent::require_consent;
use crate::Done;
use crate::output::{columns, count, dim, paint_status, strong, table};

/// Stop agents and cancel tasks; their work is kept
///
/// PATTERN is the name of a branch, a prefix of the id of a task or a run, or a pattern for any of them: `*` stands
/// for anything, `?` for one character, `[a-c]` for one of several. An agent is asked to end, then forced to; its work
/// is committed to its branch, and a snapshot is kept for `fleet undo`. Tasks that have not started are cancelled.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 160)]
pub(crate) struct Kill {
    #[command(flatten)]
    find: run_kill_find::Request,
    #[command(flatten)]
    request: Request,
    /// Do not ask; the work is kept all the same
    #[arg(short, long, visible_alias = "force", visible_short_alias = 'f')]
    yes: bool,
}

/// At most this long without a word.
const SILENCE: Duration = Duration::from_millis(1_500);
const MAX_NAMED: usize = 5;

const EXAMPLES: &str = "Examples:
  fleet kill login-A
  fleet kill 'login-*' --discard
  fleet kill --batch s0sm8gkc13hs7fr
  fleet kill '*' --all-projects --yes";

impl Kill {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let (discard, named) = (self.request.discard, self.find.patterns.clone());
        let found = context.call(self.find).await?;
        if !self.yes {
            context.output.note(&listed(&found));
        }
        if !require_consent(context, self.yes, &question(&found, discard), "nothing was stopped")? {
            let nothing = serde_json::json!({ "killed": [] });
            return context.output.show(&nothing, || "nothing was stopped".to_owned());
        }
        let tasks = found.targets.iter().map(|target| target.task.to_string()).collect();
        let request = Request { tasks, named, ..self.request };
        let response = run_and_tell(context, &found.targets, request).await?;
        context.output.show(&response, || response.killed.iter().map(line).collect::<Vec<_>>().join("\n"))?;
        if found.more {
            context.output.note("the queue is very long: only its beginning is shown");
        }
        problem(&response, discard).map_or(Ok(()), Err)
    }
}

/// Kills, and says what takes its time if it does.
async fn run_and_tell(context: &Context, targets: &[KillTarget], request: Request) -> Outcome<Answer> {
    let mut killing = Box::pin(context.call(request));
    if let Ok(response) = tokio::time::timeout(SILENCE, &mut killing).await {
        return response;
    }
    let runs = targets.iter().filter_map(|target| Some(target.run?.to_string())).collect();
    let waits = context.call(run_kill_waits::Request { runs }).await.map(|answer| answer.waits);
    let waits = waits.unwrap_or_default();
    for wait in waits.iter().take(MAX_NAMED) {
        context.output.note(&dim(&escaped(wait)));
    }
    if waits.len() > MAX_NAMED {
        context
            .output
            .note(&dim(&format!("and for {} more; `fleet list` shows them", waits.len() - MAX_NAMED)));
    }
    killing.await
}

fn listed(found: &run_kill_find::Answer) -> String {
    let column = columns(&found.targets);
    table(vec![
        column("ID", &|target| target.task.short().to_owned()),
        column("BRANCH", &|target| target.branch.clone()).naming(),
        column("STATE", &|target| target.state.as_str().to_owned()).painted(paint_status),
        column("AGENT", &|target| target.agent.clone().unwrap_or_default()),
        column("TITLE", &|target| target.title.clone()).giving_way(),
    ])
}

fn question(found: &run_kill_find::Answer, discard: bool) -> String {
    let agents = found.targets.iter().filter(|target| target.run.is_some()).count();
    let tasks = found.targets.len() - agents;
    let what = match (agents, tasks) {
        (0, tasks) => format!("Cancel {}", count(tasks, "task")),
        (agents, 0) => format!("Stop {}", count(agents, "agent")),
        (agents, tasks) => format!("Stop {} and cancel {}", count(agents, "agent"), count(tasks, "task")),
    };
    let branches = if discard { ", and delete the branches" } else { "" };
    format!("{what}{branches}?")
}

fn line(killed: &Killed) -> String {
    let what = match killed.outcome {
        KillOutcome::Stopped => "stopped",
        KillOutcome::Cancelled => "cancelled",
        KillOutcome::Over => "already finished",
        KillOutcome::GoesOn => "still running",
    };
    let id = killed.run.map_or_else(|| killed.task.to_string(), |run| run.to_string());
    let place = match (&killed.branch, killed.discarded) {
        (_, false) if !killed.remarks.is_empty() => escaped(&killed.remarks.join("; ")).into_owned(),
        (Some(branch), _) if killed.tidying => format!("work saved; committing to {}", escaped(branch)),
        (Some(branch), _) => format!("its work is on {}", escaped(branch)),
        (None, false) if killed.tidying && killed.detail.is_none() => {
            "work saved; its branch is not made yet".to_owned()
        }
        (None, true) => format!("its branch is deleted; `fleet undo {id}` restores it"),
        (None, false) => String::new(),
    };
    let detail = killed.detail.iter().map(|detail| escaped(detail).into_owned());
    let rest: Vec<String> = detail.chain((!place.is_empty()).then_some(place)).collect();
    let rest = if rest.is_empty() { String::new() } else { format!("  {}", dim(&rest.join("; "))) };
    format!("{}  {what}  {}{rest}", strong(killed.task.as_str()), escaped(&killed.title))
}

/// The problem with what goes on, or with a branch that should be gone, if there is one.
fn problem(done: &Answer, discard: bool) -> Option<Problem> {
    let is_left =
        |killed: &&Killed| killed.outcome == KillOutcome::GoesOn || (discard && killed.branch.is_some());
    let left: Vec<&Killed> = done.killed.iter().filter(is_left).collect();
    let first = left.first()?;
    let said = first.detail.clone().unwrap_or_default();
    let message = match (first.outcome, left.len()) {
        (KillOutcome::GoesOn, 1) => format!("task {} is still running: {said}", first.task),
        (_, 1) => format!("the branch of task {} stays: {said}", first.task),
        (_, number) => format!("{number} are not gone, the first is task {}: {said}", first.task),
    };
    let problem = Problem::new(Code::KillIncomplete, message);
    Some(if first.outcome == KillOutcome::GoesOn {
        problem
            .hint("it was asked to stop, and ends when its keeper sees the request; run this again to wait")
            .hint("`fleet start` takes care of a keeper that is stuck")
    } else {
        problem.hint("`git branch -D` deletes a branch that you do not need")
    })
}
