use std::path::PathBuf;

use fleet_api::verbs::run_open::{Answer, Request};
use fleet_core::outcome::RunResult;
use fleet_host::git::{self, Area, GitError, Oid};

use super::prelude::*;
use crate::verbs::elsewhere;
use crate::verbs::gc::area;

/// Finds the folder of a run that is at work on this machine. One that has ended gets a clone of its branch: its folder is
/// another run's by now.
pub(crate) async fn run(engine: &Engine, Request { id }: Request) -> Outcome<Answer> {
    let run = engine.run_id(&id).await?;
    let detail = engine.call(ops::GetRun { run }).await?;
    elsewhere::refuse(engine, &detail.run)?;
    let (area, owner) = (area(engine, &detail.project)?, run.to_string());
    let (look, area) = (area.clone(), area);
    let seen = blocking(move || look.look(&owner)).await?;
    let seen = seen.map_err(|error| Problem::new(Code::Io, error.to_string()))?;
    let branch = detail.run.branch.clone();
    if let Some(seen) = seen {
        return Ok(Answer { run, branch, workspace: seen.checkout.work_tree });
    }
    if detail.run.state.is_live() {
        let message = format!("run {run} has no workspace on this machine, or not yet");
        return Err(Problem::new(Code::NotHere, message).hint(format!("`fleet show {run}` shows its state")));
    }
    let workspace = engine.home().opened(run);
    if !workspace.exists() {
        restore(engine, &area, &detail, workspace.clone()).await?;
    }
    Ok(Answer { run, branch, workspace })
}

async fn restore(engine: &Engine, area: &Area, detail: &ops::RunDetail, dir: PathBuf) -> Outcome<()> {
    let (run, repo) = (&detail.run, area.repo.clone());
    let branch = run.branch.clone().unwrap_or_else(|| format!("fleet/{}", run.id));
    let result = detail.result.as_deref().and_then(|result| serde_json::from_str::<RunResult>(result).ok());
    // Without a commit there is no branch, and nothing to miss.
    let base = run.base.as_ref().filter(|_| result.is_none_or(|result| result.commit_count == 0));
    let base = base.and_then(|base| Oid::parse(base.as_str()).ok());
    let name = branch.clone();
    let made = blocking(move || -> Result<bool, GitError> {
        let Some(at) = git::branch_commit(&repo, &name)?.or(base) else { return Ok(false) };
        git::clone_for_person(&repo, (&name, &at), &dir).map(|()| true)
    });
    if made.await?.map_err(problems::git)? {
        return Ok(());
    }
    let kept = engine.home().kept();
    let message = format!("run {} has ended, and its branch {branch:?} is gone", run.id);
    Err(Problem::new(Code::NotHere, message)
        .hint(format!("`fleet undo {}` brings its work back as a branch", run.id))
        .hint(format!("a workspace that could not be saved is in {}", kept.display())))
}
