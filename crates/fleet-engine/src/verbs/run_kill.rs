//! Stops agents and cancels tasks by pattern, and keeps what they did.

mod discard;
mod find;

use std::time::Duration;

use fleet_core::id::{ProjectId, RunId, TaskId};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::task::TaskState;
use serde::Serialize;

use super::lineage;
use crate::Engine;
use crate::halt::{self, Fate, Halted, Until, Wish};

pub use find::find;

/// What somebody wants stopped.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Names, beginnings of ids, or patterns, of branches, tasks and runs.
    pub patterns: Vec<String>,
    /// All of this batch.
    pub batch: Option<String>,
    /// In every project instead of the directory's.
    pub all_projects: bool,
}

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub struct Found {
    /// Each task once, those at work first.
    pub targets: Vec<Target>,
    /// Whether the queue is longer than what was looked at.
    pub more: bool,
}

/// Something that can be stopped.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json.md describes each field")]
pub struct Target {
    pub task: TaskId,
    pub title: String,
    pub state: TaskState,
    pub branch: String,
    pub run: Option<RunId>,
    pub agent: Option<String>,
    #[serde(skip)]
    project: ProjectId,
}

/// How to stop.
#[derive(Debug, Clone, Default)]
pub struct Manner {
    /// Delete the branches, too. Their commits are kept for `fleet undo`.
    pub discard: bool,
    /// How long to wait for runs to end and to be tidied up after; `None` for as long as a keeper that is well may take,
    /// and only until the work of their agents is in safety.
    pub patience: Option<Duration>,
}

/// What became of them.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// In the order in which they were given.
    pub killed: Vec<Killed>,
}

/// What became of one.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json.md describes each field")]
pub struct Killed {
    pub task: TaskId,
    pub title: String,
    pub run: Option<RunId>,
    pub outcome: KillOutcome,
    pub detail: Option<String>,
    pub tidying: bool,
    pub branch: Option<String>,
    pub remarks: Vec<String>,
    pub discarded: bool,
    pub snapshot: Option<String>,
}

/// How it went with one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KillOutcome {
    /// Its agent was stopped.
    Stopped,
    /// Nobody worked on it: it will not start.
    Cancelled,
    /// It had come to an end by itself.
    Over,
    /// Its agent goes on.
    GoesOn,
}

impl Killed {
    /// Whether all that was wanted has happened.
    fn is_complete(&self, manner: &Manner) -> bool {
        self.outcome != KillOutcome::GoesOn && (!manner.discard || self.branch.is_none())
    }
}

impl Response {
    /// The problem with what goes on, if anything does.
    pub fn problem(&self, manner: &Manner) -> Option<Problem> {
        let left: Vec<&Killed> = self.killed.iter().filter(|killed| !killed.is_complete(manner)).collect();
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
                .hint(
                    "it was asked to stop, and ends when its keeper hears of it: try again to wait for that",
                )
                .hint("`fleet start` takes care of a keeper that is stuck")
        } else {
            problem.hint("`git branch -D` deletes a branch that you do not need")
        })
    }
}

/// Stops what was found.
pub async fn run(engine: &Engine, targets: &[Target], manner: &Manner) -> Outcome<Response> {
    // Who deletes the branch has to wait for the last commit on it, and who says how long wants to wait.
    let is_quick = !manner.discard && manner.patience.is_none();
    let wish = Wish {
        remark: None,
        otherwise: "stopped by `fleet kill`",
        patience: manner.patience,
        until: if is_quick { Until::Safe } else { Until::Tidy },
    };
    let tasks: Vec<TaskId> = targets.iter().map(|target| target.task).collect();
    lineage::check_all(engine, tasks.iter().copied()).await?;
    let halted = halt::cancel(engine, &tasks, &wish).await?;
    let mut killed = Vec::with_capacity(targets.len());
    for (target, halted) in targets.iter().zip(halted) {
        let mut one = killed_of(target, halted);
        discard::settle(engine, target, manner, &mut one).await?;
        killed.push(one);
    }
    Ok(Response { killed })
}

fn killed_of(target: &Target, halted: Halted) -> Killed {
    let tidying = halted.fate == Fate::Tidying;
    let (outcome, detail) = match halted.fate {
        Fate::Stopped | Fate::Tidying => (KillOutcome::Stopped, None),
        Fate::Cancelled => (KillOutcome::Cancelled, None),
        Fate::Over => (KillOutcome::Over, None),
        Fate::GoesOn(why) => (KillOutcome::GoesOn, Some(why)),
    };
    Killed {
        task: target.task,
        title: target.title.clone(),
        run: halted.run.or(target.run),
        outcome,
        detail,
        tidying,
        branch: None,
        remarks: Vec::new(),
        discarded: false,
        snapshot: None,
    }
}
