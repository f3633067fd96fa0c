//! What to do about a run.

use fleet_core::outcome::RunResult;
use fleet_core::run::RunState;
use fleet_core::task::TaskState;
use fleet_store::ops::RunDetail;

use super::name;
use crate::verbs::elsewhere::ThisPlace;
use crate::verbs::prelude::*;
use crate::verbs::{question, reasons};

pub(in crate::verbs) const NO_COMMON_HISTORY: &str =
    "no common history with the current commit, so `git merge` refuses it";

pub(in crate::verbs) const LANDED: &str = "it has landed; `fleet clean` removes its branch";

/// How to merge a branch that shares no commit with the current one.
pub(in crate::verbs) fn merge_unrelated(branch: &str) -> String {
    format!("`git merge --allow-unrelated-histories {branch}` merges it although there is no common history")
}

/// What to do next, most useful first.
pub(in crate::verbs) fn next(engine: &Engine, detail: &RunDetail) -> Outcome<Vec<String>> {
    let (run, name) = (&detail.run, name(detail));
    let mut next = Vec::new();
    let newest =
        detail.task.as_ref().map(|task| task.history.attempts).filter(|attempt| *attempt > run.attempt);
    if let Some(newest) = newest {
        next.push(format!("attempt {newest} came after this one: `fleet show {}`", run.task));
    }
    next.extend(
        detail
            .question
            .as_ref()
            .filter(|asked| asked.is_open())
            .map(|asked| question::how_to_answer(asked.id)),
    );
    match run.state() {
        RunState::Preparing | RunState::Running | RunState::Finishing => {
            next.push(format!(
                "`fleet logs {name} --follow` shows what it does, `fleet diff {name}` what it changed"
            ));
            next.push(format!("`fleet prompt {name} \"…\"` sends it a message"));
            next.push(format!("`fleet task cancel {}` stops it", run.task));
        }
        RunState::Succeeded => after_success(detail, &name, &mut next),
        RunState::Failed | RunState::TimedOut | RunState::Lost | RunState::Cancelled => {
            if let (Some(reason), Some(task)) = (run.reason, &detail.task) {
                next.extend(reasons::more_use(run, task.spec.limits));
                next.extend(reasons::remedy(engine, reason, task, &run.agent)?);
            }
            if run.started_at.is_some() {
                next.push(format!(
                    "`fleet logs {name}` shows what it did, `fleet diff {name}` what it changed"
                ));
            }
            next.extend(again(detail, &next).filter(|_| newest.is_none()));
        }
    }
    if let Some(place) = ThisPlace::of(engine)?.place_of(run) {
        let needs_its_files = |line: &String| {
            ["`fleet diff", "`fleet logs", "`git merge"].iter().any(|text| line.contains(text))
        };
        next.retain(|line| !needs_its_files(line));
        next.insert(0, format!("its work is {place}: `fleet diff {name}` there shows it"));
    }
    Ok(next)
}

fn after_success(detail: &RunDetail, name: &str, next: &mut Vec<String>) {
    let (task, state) = (detail.run.task, detail.task.as_ref().map(fleet_core::task::Task::state));
    let result = detail.result.as_deref().and_then(|text| serde_json::from_str::<RunResult>(text).ok());
    if result.is_some_and(|result| result.files == 0 && result.commit_count == 0) {
        next.push("it changed nothing, so there is no branch".to_owned());
        return;
    }
    next.push(format!("`fleet diff {name}` shows what it changed"));
    let has_others =
        detail.has_dependencies && detail.task.as_ref().is_some_and(|task| task.spec.base.is_none());
    let with = if has_others { ", with the work that it starts from" } else { "" };
    // What waits for an answer is not finished.
    let branch = detail.run.branch.as_ref().filter(|_| state != Some(TaskState::Waiting));
    next.extend(branch.map(|branch| format!("`git merge {branch}` merges it{with}")));
    if state == Some(TaskState::Done) {
        next.push(format!("`fleet prompt {task} \"…\"` continues it"));
    }
}

/// Whether and how it is retried.
fn again(detail: &RunDetail, before: &[String]) -> Option<String> {
    let task = detail.task.as_ref()?;
    match task.state() {
        TaskState::Failed | TaskState::Cancelled => reasons::retry(task.id, before),
        TaskState::Queued => Some("it will be retried automatically".to_owned()),
        _ => None,
    }
}
