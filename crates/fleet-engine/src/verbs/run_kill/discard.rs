//! What becomes of the branch.

use std::path::PathBuf;

use fleet_core::id::RunId;
use fleet_core::problem::Outcome;
use fleet_host::git::{self, GitError, KeepCommit, Oid};
use fleet_store::ops;

use super::{KillOutcome, Killed, Manner, Target};
use crate::home::Home;
use crate::keeper::blocking;
use crate::{Engine, clock};

/// More attempts at one task than anybody makes.
const MOST_ATTEMPTS: i64 = 100;

/// Says where the work is, or deletes its branch.
pub(super) async fn settle(
    engine: &Engine,
    target: &Target,
    manner: &Manner,
    one: &mut Killed,
) -> Outcome<()> {
    if one.outcome == KillOutcome::GoesOn {
        return Ok(());
    }
    let filter = ops::RunFilter { task: Some(target.task), ..Default::default() };
    let runs = engine.call(ops::ListRuns { filter, limit: MOST_ATTEMPTS }).await?;
    let Some((run, branch)) = runs.into_iter().find_map(|row| Some((row.run.id, row.run.branch?))) else {
        return Ok(());
    };
    let projects = engine.call(ops::ListProjects).await?;
    let Some(project) = projects.into_iter().find(|project| project.id == target.project) else {
        return Ok(());
    };
    let vault = Home::new(engine.home()).vault(&project.common_dir);
    let drop = Drop { repo: project.common_dir.into(), vault, branch: branch.clone(), run };
    let discard = manner.discard;
    match blocking(move || if discard { drop.discard() } else { drop.look() }).await? {
        Ok(Left::Nothing) => {}
        Ok(Left::Branch) => one.branch = Some(branch),
        Ok(Left::Moved) => {
            one.detail = Some(format!("somebody moved the branch {branch} just now"));
            one.branch = Some(branch);
        }
        Ok(Left::Snapshot(name)) => {
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

/// A branch that may go.
struct Drop {
    repo: PathBuf,
    vault: PathBuf,
    branch: String,
    run: RunId,
}

/// What is left of a branch.
enum Left {
    /// It is not there, and was not before.
    Nothing,
    /// It is there.
    Branch,
    /// It is there, and somebody works with it.
    Moved,
    /// A snapshot of this name.
    Snapshot(String),
}

impl Drop {
    fn tip(&self) -> Result<Option<Oid>, GitError> {
        git::branch_commit(&self.repo, &self.branch)
    }

    fn look(&self) -> Result<Left, GitError> {
        Ok(if self.tip()?.is_some() { Left::Branch } else { Left::Nothing })
    }

    /// Kept first, deleted then: whenever this ends, the commits are somewhere.
    fn discard(&self) -> Result<Left, GitError> {
        let Some(tip) = self.tip()? else { return Ok(Left::Nothing) };
        let snapshot = git::keep_commit(&KeepCommit {
            repo: &self.repo,
            vault: &self.vault,
            run: self.run.as_str(),
            commit: &tip,
            why: "its branch was discarded",
            at_seconds: clock::now().0 / 1_000,
        })?;
        Ok(if git::delete_branch(&self.repo, &self.branch, &tip)? {
            Left::Snapshot(snapshot)
        } else {
            Left::Moved
        })
    }
}
