use std::path::PathBuf;
use std::time::Duration;

use fleet_api::verbs::run_open::{Answer, Request};
use fleet_core::outcome::RunResult;
use fleet_host::git::{self, Area, GitError, Oid, SeenWorkspace};
use fleet_host::lock::Exclusive;

use super::prelude::*;
use crate::verbs::elsewhere;
use crate::verbs::gc::area;

/// Longer than it takes to clean the workspace of a run that has ended, unless it is very large.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(30);
const RELEASE_POLL: Duration = Duration::from_millis(50);

/// Finds the folder of a run that is at work on this machine. One that has ended gets a clone of its branch: its folder is
/// another run's by now.
pub(crate) async fn run(engine: &Engine, Request { id }: Request) -> Outcome<Answer> {
    let run = engine.run_id(&id).await?;
    let detail = engine.call(ops::GetRun { run }).await?;
    elsewhere::refuse(engine, &detail.run)?;
    let area = area(engine, &detail.project)?;
    let branch = detail.run.branch.clone();
    if let Some(seen) = own_workspace(engine, &area, &detail.run).await? {
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

/// The folder that a run has. That of one that has ended is about to be given back, and then another's: so that is waited
/// for, as long as somebody sees to it.
async fn own_workspace(engine: &Engine, area: &Area, run: &Run) -> Outcome<Option<SeenWorkspace>> {
    let (mark, deadline) = (engine.home().live_run(run.id), clock::uptime() + RELEASE_TIMEOUT);
    loop {
        let (area, owner) = (area.clone(), run.id.to_string());
        let seen = blocking(move || area.look(&owner)).await?;
        let seen = seen.map_err(|error| Problem::new(Code::Io, error.to_string()))?;
        let is_given_back =
            || Ok(!run.state.is_live() && Exclusive::is_held(&mark).map_err(problems::at(&mark))?);
        if seen.is_none() || clock::uptime() >= deadline || !is_given_back()? {
            return Ok(seen);
        }
        tokio::time::sleep(RELEASE_POLL).await;
    }
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
