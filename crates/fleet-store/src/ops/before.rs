//! The tasks that a task waited for, with what they left: its run starts there.

use async_trait::async_trait;
use fleet_core::id::TaskId;
use fleet_core::outcome::RunResult;
use fleet_core::run::Run;
use fleet_core::task::Task;
use serde::{Deserialize, Serialize};

use super::rows::{self, Described, task_columns};
use super::workflows::results_of;
use crate::StoreError;
use crate::tx::{Mode, Op, Tx, sql};

/// The tasks that a task waits or waited for, oldest first. Those of other projects are left out: their commits are in
/// other repositories.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct TasksBefore {
    pub task: TaskId,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TaskBefore {
    /// Without its description.
    pub task: Task,
    /// Whether it has dependencies itself.
    pub has_dependencies: bool,
    /// The newest of its runs that succeeded, else the newest.
    pub run: Option<Run>,
    /// What that run left. Left out if the results would not fit in memory.
    pub result: Option<RunResult>,
}

const BEFORE: &str = concat!(
    "SELECT ",
    task_columns!(),
    " FROM deps d JOIN tasks t ON t.id = d.on_task WHERE d.task = $1 \
     AND t.project = (SELECT o.project FROM tasks o WHERE o.id = $1) ORDER BY t.id"
);

#[async_trait]
impl Op for TasksBefore {
    type Out = Vec<TaskBefore>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<TaskBefore>, StoreError> {
        let dependent =
            "SELECT DISTINCT o.task FROM deps d JOIN deps o ON o.task = d.on_task WHERE d.task = $1";
        let statements = vec![sql!(BEFORE, self.task), sql!(dependent, self.task)];
        let mut answers = tx.query_all(statements).await?.into_iter();
        let mut next = || answers.next().unwrap_or_default().into_iter();
        let tasks = next().map(|row| rows::task(row, Described::LeftOut)).collect::<Result<Vec<_>, _>>()?;
        let dependent = next().map(|mut row| row.parse()).collect::<Result<Vec<TaskId>, _>>()?;
        let ids: Vec<TaskId> = tasks.iter().map(|task| task.id).collect();
        let mut left = results_of(tx, &ids).await?;
        let before = tasks.into_iter().map(|task| {
            let (run, result) = left.remove(&task.id).map(|left| (left.run, left.result)).unzip();
            let has_dependencies = dependent.contains(&task.id);
            TaskBefore { task, has_dependencies, run, result: result.flatten() }
        });
        Ok(before.collect())
    }
}
