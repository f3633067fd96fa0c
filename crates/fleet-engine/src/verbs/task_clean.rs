use std::time::Duration;

use fleet_api::verbs::task_clean::{Answer, BranchRule, FolderRule, Request};
use fleet_core::tidy::CleanReach;

use super::clean;
use super::prelude::*;
use super::project_git::ProjectGit;
use crate::home::Home;
use crate::sweep;

/// How long a finished run may take to be tidied up; a large tree takes longer, and then stays until the next call.
const TIDY_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Removes what a task left. A second call finds nothing to do, which is not an error.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let id = engine.task_id(&request.task).await?;
    let state = engine.call(ops::GetTask { id }).await?.task.state();
    if !state.is_settled() {
        let message = format!("task {id} is {state}: only finished tasks can be cleaned up");
        return Err(Problem::new(Code::IllegalTransition, message).hint(format!("`fleet kill {id}` ends it")));
    }
    let runs = engine.call(ops::ListRuns::of_task(id)).await?;
    let runs: Vec<RunId> = runs.into_iter().map(|row| row.run.id).collect();
    let home = engine.home();
    wait_until_tidy(home, &runs).await;
    let mut answer = Answer {
        branch_removed: None,
        branch_kept: None,
        folders_removed: 0,
        remarks: Vec::new(),
        errors: Vec::new(),
    };
    branch(engine, (id, request.branch), &mut answer).await?;
    if request.folders == FolderRule::Remove {
        folders(home, runs, &mut answer).await?;
    }
    sweep::start(engine)?;
    Ok(answer)
}

async fn branch(engine: &Engine, (task, wish): (TaskId, BranchRule), answer: &mut Answer) -> Outcome<()> {
    let reach = if wish == BranchRule::Discard { CleanReach::All } else { CleanReach::Landed };
    let plan = clean::plan_of(engine, task, reach).await?;
    for kept in plan.keep.into_iter().filter(|kept| kept.branch.is_some()) {
        answer.remarks.push(format!("the branch stays: {}", kept.why));
        answer.branch_kept = kept.branch;
    }
    for item in plan.remove {
        if let Some(name) = &item.spared {
            answer.remarks.push("the branch stays: it was there before the task".to_owned());
            answer.branch_kept = Some(name.clone());
        }
        if item.shown.branch.is_none() {
            continue;
        }
        let name = item.shown.branch.clone();
        if wish == BranchRule::Keep {
            answer.branch_kept = name;
            continue;
        }
        let (git, landed) = (ProjectGit::at(engine, &plan.repo.to_string_lossy()), item.shown.landed);
        match blocking(move || clean::remove_branch(&git, &item)).await? {
            Ok(()) => {
                answer.branch_removed = name;
                if !landed {
                    answer
                        .remarks
                        .push("its commits are kept as a snapshot: `fleet undo` restores them".to_owned());
                }
            }
            Err(why) => {
                answer.branch_kept = name;
                answer.errors.push(format!("the branch stays: {why}"));
            }
        }
    }
    Ok(())
}

/// A keeper records the end before it gives its workspace back: a caller that comes right after that waits a moment.
pub(super) async fn wait_until_tidy(home: &Home, runs: &[RunId]) {
    let deadline = clock::uptime() + TIDY_TIMEOUT;
    while runs.iter().any(|run| home.live_run(*run).exists()) && clock::uptime() < deadline {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

async fn folders(home: &Home, runs: Vec<RunId>, answer: &mut Answer) -> Outcome<()> {
    for run in runs.into_iter().filter(|run| home.run(*run).dir().exists()) {
        if home.live_run(run).exists() {
            answer.remarks.push(format!("the folder of run {run} stays: it is still being cleaned up"));
            continue;
        }
        let home = home.clone();
        match blocking(move || clean::remove_folder(&home, run)).await? {
            Ok(()) => answer.folders_removed += 1,
            Err(why) => answer.errors.push(why),
        }
    }
    Ok(())
}
