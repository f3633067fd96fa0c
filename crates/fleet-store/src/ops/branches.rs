//! Branches that authors chose: two tasks of a project that are not over never have the same. The unique index decides
//! when two come at once; looking first is what lets the loser be told who has the branch.

use std::collections::BTreeMap;

use fleet_core::id::{ProjectId, TaskId};
use fleet_core::task::{BranchName, Task};

use crate::StoreError;
use crate::tx::{Tx, sql};

/// Refuses a task that is about to be written with a branch that another one has.
pub(super) async fn refuse_taken<T: Tx>(tx: &mut T, task: &Task) -> Result<(), StoreError> {
    let Some(branch) = task.spec.branch.as_ref().filter(|_| !task.state().is_settled()) else {
        return Ok(());
    };
    let holder = sql!(
        "SELECT id FROM tasks WHERE project = $1 AND branch = $2 \
         AND state IN ('queued', 'held', 'running', 'waiting') AND id <> $3 LIMIT 1",
        task.project,
        branch.as_str(),
        task.id,
    );
    match tx.query_one(holder).await? {
        Some(mut row) => Err(taken(branch, row.parse()?)),
        None => Ok(()),
    }
}

/// Refuses new tasks that would have the branch of another one, or of each other.
pub(super) async fn refuse_taken_by_any<T: Tx>(tx: &mut T, tasks: &[Task]) -> Result<(), StoreError> {
    let mut wanted: BTreeMap<ProjectId, BTreeMap<&BranchName, TaskId>> = BTreeMap::new();
    for task in tasks.iter().filter(|task| !task.state().is_settled()) {
        let Some(branch) = &task.spec.branch else { continue };
        if let Some(other) = wanted.entry(task.project).or_default().insert(branch, task.id) {
            return Err(taken(branch, other));
        }
    }
    for (project, branches) in wanted {
        let names: Vec<&str> = branches.keys().map(|branch| branch.as_str()).collect();
        let holder = sql!(
            "SELECT branch, id FROM tasks WHERE project = $1 AND branch IS NOT NULL AND branch IN {list 2} \
             AND state IN ('queued', 'held', 'running', 'waiting') LIMIT 1",
            project,
            serde_json::json!(names).to_string(),
        );
        if let Some(mut row) = tx.query_one(holder).await? {
            return Err(taken(&row.parse()?, row.parse()?));
        }
    }
    Ok(())
}

fn taken(branch: &BranchName, task: TaskId) -> StoreError {
    StoreError::BranchTaken { branch: branch.to_string(), task }
}
