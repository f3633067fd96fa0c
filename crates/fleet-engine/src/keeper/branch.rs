//! Which branch a task works on, and whether that branch is its own.
//!
//! Owns how an attempt knows the branch of those before it, wherever they were made. Must never give up a task because
//! something is not known about its branch.

use fleet_core::id::RunId;
use fleet_core::outcome::RunResult;
use fleet_core::run::{Ending, Run};
use fleet_core::task::{Task, own_branch};
use fleet_host::git::Oid;
use fleet_store::ops;

use super::Keeper;

/// The branch of a task, which may name none.
pub(super) fn branch_of(task: &Task) -> String {
    task.spec.branch.as_ref().map_or_else(|| own_branch(task.id), ToString::to_string)
}

/// What earlier attempts at a task did with its branch.
pub(super) struct EarlierBranch {
    /// Where the newest one that worked on it began.
    pub(super) base: Oid,
    /// Whether one came so far as to have a workspace. Before that, a branch that is not at its base is not its own.
    has_worked: bool,
    /// Whether a foreign branch of this name was there whenever work should have gone to it.
    was_taken: bool,
    /// Whether none of them brought all of its work there.
    is_unpublished: bool,
}

impl EarlierBranch {
    /// Whether this task made the branch, which is at `tip` now. What people do to ours is their business.
    pub(super) fn made(&self, tip: &Oid) -> bool {
        self.base == *tip || (self.has_worked && !self.was_taken)
    }

    /// Where this task began on a branch that existed before it, which is at `tip` now. What a person committed before
    /// anything of the task got there is not its work.
    pub(super) fn began_on_existing(earlier: Option<Self>, tip: &Oid) -> (Oid, bool) {
        match earlier {
            Some(earlier) if earlier.has_worked && !earlier.is_unpublished => (earlier.base, true),
            _ => (tip.clone(), false),
        }
    }
}

impl Keeper<'_> {
    /// What the attempts before this one, newest first, did with this branch.
    pub(super) async fn earlier_attempts_on(
        &self,
        branch: &str,
        before: &[Run],
    ) -> Result<Option<EarlierBranch>, Ending> {
        let on_it = || before.iter().filter(|run| run.branch.as_deref() == Some(branch));
        let worked = || on_it().filter(|run| run.workspace.is_some());
        let base = |run: &Run| Oid::parse(run.base.as_deref()?).ok();
        // One that had a workspace made the branch, or went on with it.
        let Some(base) = worked().find_map(base).or_else(|| on_it().find_map(base)) else { return Ok(None) };
        let has_worked = worked().next().is_some();
        let mut earlier = EarlierBranch { base, has_worked, was_taken: true, is_unpublished: true };
        for run in worked() {
            let result = self.result_of(run.id).await?;
            // One that was lost has no result, and may have set the branch: its place looks after its work.
            earlier.was_taken &= result.as_ref().is_some_and(|result| result.branch_taken);
            earlier.is_unpublished &= result.is_some_and(|result| result.unpublished);
        }
        Ok(Some(earlier))
    }

    async fn result_of(&self, run: RunId) -> Result<Option<RunResult>, Ending> {
        let detail = self.call(ops::GetRun { run }).await;
        let result = detail.map_err(|problem| Ending::Released(problem.to_string()))?.result;
        Ok(result.and_then(|text| serde_json::from_str(&text).ok()))
    }
}
