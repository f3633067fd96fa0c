use std::time::Duration;

use clap::Args;
use fleet_api::verbs::run_kill::{Answer, KillOutcome, Killed, Request};
use fleet_api::verbs::run_kill_find::{self, Target};
use fleet_api::verbs::run_kill_waits;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;
use fleet_core::time::Span;

use super::Context;
use super::consent::insist;
use crate::Done;
use crate::output::{Column, count, dim, paint_status, strong, table};

/// Stop agents and cancel tasks; what they did is kept
///
/// PATTERN is the name of a branch, the beginning of the id of a task or a run, or a pattern for any of them: `*` stands
/// for anything, `?` for one character, `[a-c]` for one of several. An agent is told to end, then made to; what it has
/// written is committed on its branch, and a snapshot is kept for `fleet undo`. Tasks that have not started are
/// cancelled.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 160)]
pub(crate) struct Kill {
    #[command(flatten)]
    find: run_kill_find::Request,
    /// Delete the branches as well; `fleet undo` brings them back
    #[arg(long)]
    discard: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Wait so long for agents to end and their work to be committed [default: until it is safe]
    #[arg(long, value_name = "TIME")]
    wait: Option<String>,
}

/// Nobody waits longer without a word.
const SILENCE: Duration = Duration::from_millis(1_500);
const MOST_TOLD: usize = 5;

const EXAMPLES: &str = "Examples:
  fleet kill login-A
  fleet kill 'login-*' --discard
  fleet kill '*' --all-projects --yes";

impl Kill {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let wait_millis = self.wait.as_deref().map(wait).transpose()?;
        let (discard, found) = (self.discard, context.call(self.find).await?);
        if !self.yes {
            context.output.note(&listed(&found));
        }
        if !insist(context, self.yes, &question(&found, discard), "nothing was stopped")? {
            let nothing = serde_json::json!({ "killed": [] });
            return context.output.show(&nothing, || "nothing was stopped".to_owned());
        }
        let tasks = found.targets.iter().map(|target| target.task.to_string()).collect();
        let request = Request { tasks, discard, wait_millis };
        let response = run_and_tell(context, &found.targets, request).await?;
        context.output.show(&response, || response.killed.iter().map(line).collect::<Vec<_>>().join("\n"))?;
        if found.more {
            context.output.note("the queue is very long: this was only its beginning");
        }
        problem(&response, discard).map_or(Ok(()), Err)
    }
}

/// Kills, and says what takes its time if it does.
async fn run_and_tell(context: &Context, targets: &[Target], request: Request) -> Outcome<Answer> {
    let mut killing = Box::pin(context.call(request));
    if let Ok(response) = tokio::time::timeout(SILENCE, &mut killing).await {
        return response;
    }
    let runs = targets.iter().filter_map(|target| Some(target.run?.to_string())).collect();
    let waits = context.call(run_kill_waits::Request { runs }).await.map(|answer| answer.waits);
    let waits = waits.unwrap_or_default();
    for wait in waits.iter().take(MOST_TOLD) {
        context.output.note(&dim(&escaped(wait)));
    }
    if waits.len() > MOST_TOLD {
        context.output.note(&dim(&format!("and for {} more", waits.len() - MOST_TOLD)));
    }
    killing.await
}

fn wait(text: &str) -> Result<u64, Problem> {
    let span: Result<Span, _> = text.parse();
    let millis = |span: Span| u64::try_from(span.0.as_millis()).unwrap_or(u64::MAX);
    span.map(millis).map_err(|error| Problem::field("wait", error.to_string()))
}

fn listed(found: &run_kill_find::Answer) -> String {
    let cells = |cell: fn(&Target) -> String| found.targets.iter().map(cell).collect::<Vec<_>>();
    table(vec![
        Column::new("TASK", cells(|target| target.task.to_string())),
        Column::new("BRANCH", cells(|target| target.branch.clone())).naming(),
        Column::new("STATE", cells(|target| target.state.as_str().to_owned())).painted(paint_status),
        Column::new("AGENT", cells(|target| target.agent.clone().unwrap_or_default())),
        Column::new("TITLE", cells(|target| target.title.clone())).giving_way(),
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
        KillOutcome::Over => "was over",
        KillOutcome::GoesOn => "goes on",
    };
    let id = killed.run.map_or_else(|| killed.task.to_string(), |run| run.to_string());
    let place = match (&killed.branch, killed.discarded) {
        (_, false) if !killed.remarks.is_empty() => escaped(&killed.remarks.join("; ")).into_owned(),
        (Some(branch), _) if killed.tidying => format!("work saved; committing to {}", escaped(branch)),
        (Some(branch), _) => format!("its work is on {}", escaped(branch)),
        (None, false) if killed.tidying && killed.detail.is_none() => {
            "work saved; its branch is not made yet".to_owned()
        }
        (None, true) => format!("its branch is deleted; `fleet undo {id}` brings it back"),
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
        (KillOutcome::GoesOn, 1) => format!("task {} goes on: {said}", first.task),
        (_, 1) => format!("the branch of task {} stays: {said}", first.task),
        (_, number) => format!("{number} are not gone, the first is task {}: {said}", first.task),
    };
    let problem = Problem::new(Code::KillIncomplete, message);
    Some(if first.outcome == KillOutcome::GoesOn {
        problem
            .hint("it was asked to stop, and ends when its keeper hears of it: try again to wait for that")
            .hint("`fleet start` takes care of a keeper that is stuck")
    } else {
        problem.hint("`git branch -D` deletes a branch that you do not need")
    })
}
