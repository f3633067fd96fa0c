//! `fleet kill`

use std::time::Duration;

use clap::Args;
use fleet_core::problem::{Code, Problem};
use fleet_core::text::escaped;
use fleet_core::time::Span;
use fleet_engine::verbs::run_kill::{self, Found, KillOutcome, Killed, Manner, Request, Target};

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
pub(crate) struct Kill {
    /// Branches, tasks or runs, by name, id or pattern
    #[arg(value_name = "PATTERN", required_unless_present = "batch")]
    patterns: Vec<String>,
    /// Everything of this batch, of whatever repository
    #[arg(long, value_name = "ID")]
    batch: Option<String>,
    /// In every repository
    #[arg(short = 'A', long)]
    all_projects: bool,
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

const EXAMPLES: &str = "Examples:
  fleet kill login-A
  fleet kill 'login-*' --discard
  fleet kill '*' --all-projects --yes";

impl Kill {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let patience = self.wait.as_deref().map(wait).transpose()?;
        let manner = Manner { discard: self.discard, patience };
        let request = Request { patterns: self.patterns, batch: self.batch, all_projects: self.all_projects };
        let found = run_kill::find(&context.engine, &request).await?;
        if !self.yes {
            context.output.note(&listed(&found));
        }
        if !insist(context, self.yes, &question(&found, &manner), "nothing was stopped")? {
            let nothing = serde_json::json!({ "killed": [] });
            return context.output.show(&nothing, || "nothing was stopped".to_owned());
        }
        let response = run_kill::run(&context.engine, &found.targets, &manner).await?;
        context.output.show(&response, || response.killed.iter().map(line).collect::<Vec<_>>().join("\n"))?;
        if found.more {
            context.output.note("the queue is very long: this was only its beginning");
        }
        response.problem(&manner).map_or(Ok(()), Err)
    }
}

fn wait(text: &str) -> Result<Duration, Problem> {
    let span: Result<Span, _> = text.parse();
    span.map(|span| span.0).map_err(|error| Problem::new(Code::InvalidValue, format!("wait: {error}")))
}

fn listed(found: &Found) -> String {
    let cells = |cell: fn(&Target) -> String| found.targets.iter().map(cell).collect::<Vec<_>>();
    table(vec![
        Column::new("TASK", cells(|target| target.task.to_string())),
        Column::new("BRANCH", cells(|target| target.branch.clone())).naming(),
        Column::new("STATE", cells(|target| target.state.as_str().to_owned())).painted(paint_status),
        Column::new("AGENT", cells(|target| target.agent.clone().unwrap_or_default())),
        Column::new("TITLE", cells(|target| target.title.clone())).giving_way(),
    ])
}

fn question(found: &Found, manner: &Manner) -> String {
    let agents = found.targets.iter().filter(|target| target.run.is_some()).count();
    let tasks = found.targets.len() - agents;
    let what = match (agents, tasks) {
        (0, tasks) => format!("Cancel {}", count(tasks, "task")),
        (agents, 0) => format!("Stop {}", count(agents, "agent")),
        (agents, tasks) => format!("Stop {} and cancel {}", count(agents, "agent"), count(tasks, "task")),
    };
    let branches = if manner.discard { ", and delete the branches" } else { "" };
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
        (None, true) => format!("its branch is deleted; `fleet undo {id}` brings it back"),
        (None, false) => String::new(),
    };
    let detail = killed.detail.iter().map(|detail| escaped(detail).into_owned());
    let rest: Vec<String> = detail.chain((!place.is_empty()).then_some(place)).collect();
    let rest = if rest.is_empty() { String::new() } else { format!("  {}", dim(&rest.join("; "))) };
    format!("{}  {what}  {}{rest}", strong(killed.task.as_str()), escaped(&killed.title))
}
