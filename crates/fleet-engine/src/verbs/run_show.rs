pub(super) mod advice;
mod files;

use std::path::{Path, PathBuf};

use fleet_api::verbs::run_list::CpuSample;
use fleet_api::verbs::run_show::{Answer, Request};
use fleet_core::event;
use fleet_core::message::Message;
use fleet_core::run::{Reason, RunState};
use fleet_core::task::{Task, TaskState};
use fleet_host::git::{self, GitError};
use fleet_store::ops::RunDetail;

use super::log_tail;
use super::prelude::*;
use super::task_show::{MAX_MESSAGES, newest_messages};
use crate::keeper::blocking;
use crate::keeper::prior_tasks::start_branches;
use crate::load;
use crate::lost_keeper::LostKeeper;
use fleet_api::views::{EventView, MessageView, RunView};

const MAX_NOTES: i64 = 20;
/// As many lines of the set-up log tell why it failed.
const SETUP_LINES: usize = 20;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let run = engine.run_id(&request.id).await?;
    let detail = engine.call(ops::GetRun { run }).await?;
    // Without numbers they can be shown as well.
    let _ = engine.number_events().await;
    let notes = engine.call(ops::RunEventsOf { run, kinds: event::NOTES, limit: MAX_NOTES }).await?;
    let messages = messages(engine, &detail.run).await?;
    let home = engine.home().clone();
    let (folder, vault, live) = (home.run(run), home.vault(&detail.project.common_dir), detail.run.clone());
    let repo = PathBuf::from(&detail.project.common_dir);
    let is_setup = detail.run.reason == Some(Reason::SetupFailed);
    let (lost, load, snapshots, files, setup_log, relation) = blocking(move || {
        let lost = LostKeeper::of(&home, &live);
        let relation = relation(&repo, &live);
        let load = load::look(&home, &[live], &CpuSample::default()).0.remove(&run);
        let setup_log = if is_setup { log_tail::of(&folder.setup_log(), SETUP_LINES) } else { Vec::new() };
        (lost, load, files::snapshots(&vault, run), files::kept(&folder), setup_log, relation)
    })
    .await?;
    let result = match &detail.result {
        Some(text) => Some(serde_json::from_str(text).map_err(|error| {
            Problem::new(Code::StoreFailed, format!("the result of run {run} cannot be read: {error}"))
        })?),
        None => None,
    };
    let task = detail.task.as_ref();
    let starts_from = match task.filter(|_| detail.has_dependencies) {
        Some(task) => start_branches(engine, task).await?,
        None => Vec::new(),
    };
    let mut shown = RunView::from(&detail.run);
    if let Some(lost) = lost {
        lost.tell(&mut shown);
    }
    let mut next = advice::next(engine, &detail)?;
    if let Some(line) = detail.run.branch.as_deref().and_then(|branch| relation.merge(branch)) {
        next.iter_mut().filter(|next| next.starts_with("`git merge")).for_each(|next| next.clone_from(&line));
    }
    Ok(Answer {
        next,
        run: shown,
        title: task.map(|task| task.spec.title.to_string()),
        task_state: task.map(Task::state),
        batch: task.and_then(|task| task.spec.batch),
        attempts: task.map_or(detail.run.attempt, |task| task.history.attempts),
        attempts_allowed: task.map_or(detail.run.attempt, attempts_allowed),
        project_name: detail.project.name.clone(),
        starts_from,
        report: detail.report.clone(),
        result,
        load,
        notes: notes.iter().map(EventView::from).collect(),
        messages,
        snapshots,
        setup_log,
        files,
    })
}

/// How the branch of a run stands to the current commit.
enum Relation {
    /// It can be merged, or nothing is known: git says so when it is merged.
    Open,
    Landed,
    /// They share no commit.
    Unrelated,
}

impl Relation {
    /// What is said instead of how to merge the branch.
    fn merge(&self, branch: &str) -> Option<String> {
        match self {
            Self::Open => None,
            Self::Landed => Some(advice::LANDED.to_owned()),
            Self::Unrelated => Some(advice::merge_unrelated(branch)),
        }
    }
}

fn relation(repo: &Path, run: &Run) -> Relation {
    let look = |branch: &str| -> Result<Relation, GitError> {
        let (Some(tip), head) = (git::branch_commit(repo, branch)?, git::head_commit(repo)?) else {
            return Ok(Relation::Open);
        };
        Ok(if git::is_ancestor(repo, &tip, &head)? {
            Relation::Landed
        } else if git::share_history(repo, &head, &tip)? {
            Relation::Open
        } else {
            Relation::Unrelated
        })
    };
    let branch = run.branch.as_deref().filter(|_| run.state() == RunState::Succeeded);
    branch.and_then(|branch| look(branch).ok()).unwrap_or(Relation::Open)
}

/// How often a task is started if every attempt from now on fails. Attempts that ended without a fault of the task,
/// and those before its failures were reset, do not use up its retries.
fn attempts_allowed(task: &Task) -> i64 {
    let retry = task.spec.retry.in_mode(task.spec.mode);
    allowed(task.state(), task.history.attempts, task.history.failures, retry.retries)
}

fn allowed(state: TaskState, started: i64, failures: u32, retries: u32) -> i64 {
    if state.is_settled() {
        return started.max(i64::from(retries) + 1);
    }
    let next = i64::from(state != TaskState::Running);
    started + next + i64::from(retries.saturating_sub(failures))
}

/// What was said to the agent of this run, or is about to be.
async fn messages(engine: &Engine, run: &Run) -> Outcome<Vec<MessageView>> {
    let messages = engine.call(newest_messages(engine, run.task, MAX_MESSAGES)).await?;
    let is_of_it = |message: &&Message| {
        let waits = message.receipts.seen.is_none() && message.taken_by.is_none();
        message.taken_by == Some(run.id) || (waits && run.state.is_live())
    };
    let now = engine.now();
    Ok(messages.iter().filter(is_of_it).map(|message| MessageView::new(message, now)).collect())
}

/// The name by which people find a run again: short where there is a branch.
fn name(detail: &RunDetail) -> String {
    let is_newest = detail.task.as_ref().is_some_and(|task| task.history.attempts == detail.run.attempt);
    match &detail.run.branch {
        Some(branch) if is_newest && detail.run.state != RunState::Preparing => branch.clone(),
        _ => detail.run.id.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_never_an_attempt_beyond_those_allowed() {
        assert_eq!(allowed(TaskState::Running, 1, 0, 2), 3);
        assert_eq!(allowed(TaskState::Queued, 1, 1, 2), 3);
        assert_eq!(allowed(TaskState::Failed, 3, 3, 2), 3);
        assert_eq!(allowed(TaskState::Done, 1, 0, 2), 3);
        // The second attempt did not count as a failure, or a person has retried it.
        assert_eq!(allowed(TaskState::Running, 3, 0, 1), 4);
        assert_eq!(allowed(TaskState::Done, 4, 0, 1), 4);
    }
}
