//! Which branches codefleet made: only those are its to delete.

use std::collections::{BTreeMap, BTreeSet};

use fleet_host::git::StoredSnapshot;
use fleet_store::ops::ListedRun;

use crate::verbs::prelude::*;

/// The tasks that made their branches. The others found them there, or were deleted, and nobody knows.
pub(super) struct Makers {
    tasks: BTreeSet<TaskId>,
}

impl Makers {
    /// Those among the tasks of these runs that have a branch.
    pub(super) async fn of(engine: &Engine, groups: &[Vec<ListedRun>]) -> Outcome<Self> {
        let on_branches = groups.iter().flatten().filter(|row| row.run.branch.is_some());
        let ids: BTreeSet<TaskId> = on_branches.map(|row| row.run.task).collect();
        let tasks = engine.call(ops::FollowTasks { ids: ids.into_iter().collect() }).await?;
        let made = tasks.into_iter().filter(|one| !one.task.spec.existing_branch);
        Ok(Self { tasks: made.map(|one| one.task.id).collect() })
    }

    /// Whether a branch was made by one of these tasks, newest first, the runs of each newest first. A task that found the
    /// branch where the task before it had left it goes on with that task's branch.
    pub(super) fn made(&self, tasks: &[Vec<&ListedRun>], last: &BTreeMap<String, StoredSnapshot>) -> bool {
        let left = |row: &ListedRun| Some(last.get(row.run.id.as_str())?.head.as_ref()?.to_string());
        let mut tasks = tasks.iter().peekable();
        while let Some(runs) = tasks.next() {
            if self.tasks.contains(&runs[0].run.task) {
                return true;
            }
            let start = runs.last().and_then(|row| row.run.base.clone());
            let goes_on =
                |before: &&Vec<&ListedRun>| start.is_some() && before.iter().any(|row| left(row) == start);
            if !tasks.peek().is_some_and(goes_on) {
                return false;
            }
        }
        false
    }
}
