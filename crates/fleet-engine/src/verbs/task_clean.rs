//! Removes what one task left behind, and never work that is nowhere else.

use std::time::Duration;

use fleet_core::id::{RunId, TaskId};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::tidy::Reach;
use fleet_store::ops;

use super::project_git::ProjectGit;
use super::{clean, lineage};
use crate::home::Home;
use crate::keeper::blocking;
use crate::{Engine, clock, sweep};

/// What is to go.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// The task, which is over.
    pub task: TaskId,
    /// What becomes of its branch.
    pub branch: Branch,
    /// What becomes of its prompts, logs and results.
    pub folders: Folders,
}

/// What becomes of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Branch {
    /// It stays.
    Keep,
    /// It goes, if its work has landed or there is none.
    IfLanded,
    /// It goes; work that has not landed is kept as a snapshot.
    Discard,
}

/// What becomes of the folders of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folders {
    /// They stay.
    Keep,
    /// They go.
    Remove,
}

/// What was done.
#[derive(Debug, Clone, Default)]
pub struct Response {
    /// The branch that is gone now.
    pub branch_removed: Option<String>,
    /// The branch that is still there.
    pub branch_kept: Option<String>,
    /// How many folders are gone now.
    pub folders_removed: usize,
    /// Why something stays.
    pub remarks: Vec<String>,
    /// What could not be done.
    pub errors: Vec<String>,
}

/// More attempts at one task than anybody makes.
const MOST_ATTEMPTS: i64 = 1_000;
/// So long a run that is over may take to be tidy; a large tree takes longer, and then stays for another time.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(5);

/// Removes it. Nothing is left to do the second time, which is no problem.
pub async fn run(engine: &Engine, request: Request) -> Outcome<Response> {
    lineage::check(engine, request.task).await?;
    let state = engine.call(ops::GetTask { id: request.task }).await?.task.state();
    if !state.is_settled() {
        let message = format!("task {} is {state}: only what is over can be cleaned up", request.task);
        return Err(Problem::new(Code::IllegalTransition, message)
            .hint(format!("`fleet kill {}` ends it", request.task)));
    }
    let filter = ops::RunFilter { task: Some(request.task), ..Default::default() };
    let runs = engine.call(ops::ListRuns { filter, limit: MOST_ATTEMPTS }).await?;
    let runs: Vec<RunId> = runs.into_iter().map(|row| row.run.id).collect();
    let home = Home::new(engine.home());
    tidied(&home, &runs).await;
    let mut response = Response::default();
    branch(engine, request, &mut response).await?;
    if request.folders == Folders::Remove {
        folders(&home, runs, &mut response).await?;
    }
    sweep::start(engine)?;
    Ok(response)
}

async fn branch(engine: &Engine, request: Request, response: &mut Response) -> Outcome<()> {
    let reach = if request.branch == Branch::Discard { Reach::All } else { Reach::Landed };
    let plan = clean::plan_of(engine, request.task, reach).await?;
    for kept in plan.keep.into_iter().filter(|kept| kept.branch.is_some()) {
        response.remarks.push(format!("the branch stays: {}", kept.why));
        response.branch_kept = kept.branch;
    }
    for item in plan.remove.into_iter().filter(|item| item.branch.is_some()) {
        let name = item.branch.clone();
        if request.branch == Branch::Keep {
            response.branch_kept = name;
            continue;
        }
        let (git, landed) = (ProjectGit::at(engine, &plan.repo.to_string_lossy()), item.landed);
        match blocking(move || clean::remove_branch(&git, &item)).await? {
            Ok(()) => {
                response.branch_removed = name;
                if !landed {
                    response
                        .remarks
                        .push("its commits are kept as a snapshot: `fleet undo` brings them back".to_owned());
                }
            }
            Err(why) => {
                response.branch_kept = name;
                response.errors.push(format!("the branch stays: {why}"));
            }
        }
    }
    Ok(())
}

/// A keeper tells of the end before it gives its workspace back: whoever comes right after that waits a moment.
pub(super) async fn tidied(home: &Home, runs: &[RunId]) {
    let deadline = clock::uptime() + PATIENCE;
    while runs.iter().any(|run| home.live_run(*run).exists()) && clock::uptime() < deadline {
        tokio::time::sleep(LOOK).await;
    }
}

async fn folders(home: &Home, runs: Vec<RunId>, response: &mut Response) -> Outcome<()> {
    for run in runs.into_iter().filter(|run| home.run(*run).dir().exists()) {
        if home.live_run(run).exists() {
            response
                .remarks
                .push(format!("the folder of run {run} stays: somebody still tidies up after it"));
            continue;
        }
        let home = home.clone();
        match blocking(move || clean::remove_folder(&home, run)).await? {
            Ok(()) => response.folders_removed += 1,
            Err(why) => response.errors.push(why),
        }
    }
    Ok(())
}
