//! Branches that authors chose: two tasks of a project that are not over never have the same. The unique index decides
//! when two come at once; looking first is what lets the loser be told who has the branch.

use std::collections::BTreeMap;

use fleet_core::id::ProjectId;
use fleet_core::task::{BranchName, Task, owner_of_branch};

use crate::ops::prelude::*;

/// The task of a project that has chosen a branch: the one that is not over, else the newest that is.
#[derive(Debug, Clone)]
pub struct BranchHolder {
    pub project: ProjectId,
    pub branch: String,
}

#[async_trait]
impl Op for BranchHolder {
    type Out = Option<TaskId>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Option<TaskId>, StoreError> {
        let find = sql!(
            "SELECT id FROM tasks WHERE project = $1 AND branch = $2 \
             ORDER BY (state IN ('queued', 'held', 'running', 'waiting')) DESC, id DESC LIMIT 1",
            self.project,
            self.branch.as_str(),
        );
        tx.query_alone(find).await?.into_iter().next().map(|mut row| row.parse()).transpose()
    }
}

/// Refuses a task that is about to be written with a branch that another one has.
pub(super) async fn refuse_taken(tx: &mut dyn Tx, task: &Task) -> Result<(), StoreError> {
    refuse_taken_by_any(tx, std::slice::from_ref(task)).await
}

/// How many branches are looked up in one trip to the server.
const CHUNK: usize = 500;

/// Refuses tasks that are about to be written with the branch of another one, or of each other.
pub(super) async fn refuse_taken_by_any(tx: &mut dyn Tx, tasks: &[Task]) -> Result<(), StoreError> {
    let mut seen: BTreeMap<(ProjectId, &BranchName), TaskId> = BTreeMap::new();
    let mut wanted = Vec::new();
    for task in tasks.iter().filter(|task| !task.state().is_settled()) {
        let Some(branch) = &task.spec.branch else { continue };
        // The other task need not have made it yet.
        if let Some(other) = owner_of_branch(branch.as_str()).filter(|owner| *owner != task.id) {
            return Err(StoreError::BranchReserved { branch: branch.to_string(), task: other });
        }
        if let Some(other) = seen.insert((task.project, branch), task.id) {
            return Err(taken(branch, other));
        }
        wanted.push((task, branch));
    }
    for chunk in wanted.chunks(CHUNK) {
        let holders = chunk.iter().map(|(task, branch)| holder(task, branch)).collect();
        for (found, (_, branch)) in tx.query_all(holders).await?.into_iter().zip(chunk) {
            if let Some(mut row) = found.into_iter().next() {
                return Err(taken(branch, row.parse()?));
            }
        }
    }
    Ok(())
}

/// Another task that has the branch.
fn holder(task: &Task, branch: &BranchName) -> Statement {
    sql!(
        "SELECT id FROM tasks WHERE project = $1 AND branch = $2 \
         AND state IN ('queued', 'held', 'running', 'waiting') AND id <> $3 LIMIT 1",
        task.project,
        branch.as_str(),
        task.id,
    )
}

fn taken(branch: &BranchName, task: TaskId) -> StoreError {
    StoreError::BranchTaken { branch: branch.to_string(), task }
}
