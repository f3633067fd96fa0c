//! Tasks that a caller waits for.

use std::collections::BTreeMap;

use fleet_core::deps::Obstacle;
use fleet_core::run::Run;
use fleet_core::task::Task;

use super::deps::id_list;
use super::list::obstacles;
use super::rows::{self, Described, task_columns};
use super::runs::row::{self, run_columns};
use crate::ops::prelude::*;

/// Tasks by their ids, each with its newest run: one look, whatever their number. Those that were deleted are left
/// out.
#[derive(Debug, Clone)]
pub struct FollowTasks {
    /// In the order in which they are returned.
    pub ids: Vec<TaskId>,
}

/// A task that a caller waits for.
#[derive(Debug, Clone)]
pub struct FollowedTask {
    /// The task, without its description.
    pub task: Task,
    pub run: Option<Run>,
    /// The dependency that blocks it, if one does.
    pub obstacle: Option<Obstacle>,
}

/// A task counts its claims, and the count is the attempt number of its newest run.
const NEWEST: &str = concat!(
    "SELECT ",
    run_columns!(),
    " FROM tasks t JOIN runs r ON r.task = t.id AND r.fence = t.fence WHERE t.id IN {list 1}"
);

#[async_trait]
impl Op for FollowTasks {
    type Out = Vec<FollowedTask>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Self::Out, StoreError> {
        let ids = id_list(self.ids.iter().copied());
        let statements = vec![
            sql!(concat!("SELECT ", task_columns!(), " FROM tasks t WHERE t.id IN {list 1}"), ids.clone()),
            sql!(NEWEST, ids),
        ];
        let mut answers = tx.query_all(statements).await?.into_iter();
        let tasks = answers.next().unwrap_or_default().into_iter();
        let tasks = tasks.map(|row| rows::task(row, Described::LeftOut)).collect::<Result<Vec<_>, _>>()?;
        let mut obstacles = obstacles(tx, &tasks).await?;
        let mut runs = BTreeMap::new();
        for mut row in answers.flatten() {
            let run = row::run(&mut row)?;
            runs.insert(run.task, run);
        }
        let mut tasks: BTreeMap<TaskId, Task> = tasks.into_iter().map(|task| (task.id, task)).collect();
        let followed = self.ids.iter().filter_map(|id| {
            let task = tasks.remove(id)?;
            Some(FollowedTask { task, run: runs.remove(id), obstacle: obstacles.remove(id) })
        });
        Ok(followed.collect())
    }
}
