//! What becomes of the branch.

use fleet_api::verbs::run_kill::{KillOutcome, Killed, Request};
use fleet_core::outcome::RunResult;
use fleet_host::disk;
use fleet_host::git::{self, GitError, KeepCommits, Oid};
use fleet_store::ops::ListedRun;

use crate::verbs::elsewhere::ThisPlace;
use crate::verbs::prelude::*;
use crate::verbs::project_git::ProjectGit;

/// Says where the work is, or deletes its branch.
pub(super) async fn settle(engine: &Engine, request: &Request, one: &mut Killed) -> Outcome<()> {
    if one.outcome == KillOutcome::GoesOn {
        return Ok(());
    }
    let runs = engine.call(ops::ListRuns::of_task(one.task)).await?;
    let Some(ListedRun { run, .. }) = runs.into_iter().find(|row| row.run.branch.is_some()) else {
        return Ok(());
    };
    one.remarks = remarks(engine, run.id).await?;
    if let Some(place) = ThisPlace::of(engine)?.place_of(&run) {
        one.detail = Some(format!("its branch is {place}"));
        return Ok(());
    }
    let Some(branch) = run.branch.clone() else { return Ok(()) };
    let (run, project) = (run.id, engine.project_here(run.project).await?);
    let drop = Drop { git: ProjectGit::at(engine, &project.common_dir), branch: branch.clone(), run };
    if one.tidying
        && let Some(why) = disk::write_refusal(&drop.git.repo)
    {
        let repo = drop.git.repo.display();
        one.detail = Some(format!(
            "its work is only in a snapshot (`fleet undo {run}`): {repo} cannot be written: {why}"
        ));
        return Ok(());
    }
    let is_spared =
        request.discard && !request.named.contains(&branch) && !made_branch(engine, one.task).await?;
    let discard = request.discard && !is_spared;
    match blocking(move || if discard { drop.discard() } else { drop.look() }).await? {
        Ok(BranchLeft::Branch) if is_spared => {
            one.detail = Some(format!(
                "the branch {branch} was there before the task, so it stays: `git branch -D {branch}` deletes it"
            ));
            one.branch = Some(branch);
        }
        Ok(BranchLeft::Nothing) => {}
        Ok(BranchLeft::Branch) => one.branch = Some(branch),
        Ok(BranchLeft::Moved) => {
            one.detail = Some(format!("the branch {branch} has just moved"));
            one.branch = Some(branch);
        }
        Ok(BranchLeft::Snapshot(name)) => {
            one.discarded = true;
            one.snapshot = Some(name);
        }
        Err(error) => {
            one.detail = Some(error.to_string());
            one.branch = Some(branch);
        }
    }
    Ok(())
}

/// Whether a task is known to have made its branch.
async fn made_branch(engine: &Engine, task: TaskId) -> Outcome<bool> {
    let followed = engine.call(ops::FollowTasks { ids: vec![task] }).await?;
    Ok(followed.first().is_some_and(|one| !one.task.spec.existing_branch))
}

/// Where the work is, if it is not on its branch.
async fn remarks(engine: &Engine, run: RunId) -> Outcome<Vec<String>> {
    let result = engine.call(ops::GetRun { run }).await?.result;
    let result: Option<RunResult> = result.and_then(|text| serde_json::from_str(&text).ok());
    Ok(result.map(|result| result.remarks).unwrap_or_default())
}

/// A branch that may be removed.
struct Drop {
    git: ProjectGit,
    branch: String,
    run: RunId,
}

/// What is left of a branch.
enum BranchLeft {
    /// It is not there, and was not before.
    Nothing,
    Branch,
    /// It is there, and in use.
    Moved,
    /// A snapshot with this name.
    Snapshot(String),
}

impl Drop {
    fn tip(&self) -> Result<Option<Oid>, GitError> {
        git::branch_commit(&self.git.repo, &self.branch)
    }

    fn look(&self) -> Result<BranchLeft, GitError> {
        Ok(if self.tip()?.is_some() { BranchLeft::Branch } else { BranchLeft::Nothing })
    }

    /// Kept first, deleted then: whenever this ends, the commits are somewhere.
    fn discard(&self) -> Result<BranchLeft, GitError> {
        let Some(tip) = self.tip()? else { return Ok(BranchLeft::Nothing) };
        let snapshot = git::keep_commit(&KeepCommits {
            repo: &self.git.repo,
            vault: &self.git.vault,
            run: self.run.as_str(),
            commits: &[(tip.clone(), "its branch was discarded".to_owned())],
            at_seconds: clock::now().0 / 1_000,
        })?;
        Ok(if git::delete_branch(&self.git.repo, &self.branch, &tip)? {
            BranchLeft::Snapshot(snapshot)
        } else {
            BranchLeft::Moved
        })
    }
}
