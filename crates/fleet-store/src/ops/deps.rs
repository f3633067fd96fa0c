//! Dependencies between tasks that exist.

use std::collections::{BTreeMap, BTreeSet};

use fleet_core::deps::{self, Edge};
use fleet_core::task::{Task, TaskState};

use super::rows::{about, lock_task, read_task, record};
use crate::ops::prelude::*;
use crate::tx::Lock;

/// Ids as the JSON list that `{list N}` reads.
pub(super) fn id_list(ids: impl Iterator<Item = TaskId>) -> String {
    let quoted: Vec<String> = ids.map(|id| format!("\"{id}\"")).collect();
    format!("[{}]", quoted.join(","))
}

#[derive(Debug, Clone, Copy)]
pub struct AddDependency {
    pub edge: Edge,
    pub now: Millis,
}

#[async_trait]
impl Op for AddDependency {
    /// The task, and whether it did not already wait.
    type Out = (Task, bool);
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Self::Out, StoreError> {
        let Edge { task: id, on } = self.edge;
        // Two at once could close a cycle that neither of them sees.
        tx.lock(Lock::Dependencies).await?;
        let state = hold_state(tx, on).await?.ok_or_else(|| StoreError::TaskNotFound(on.to_string()))?;
        let task = lock_task(tx, id).await?;
        if !matches!(
            task.state(),
            TaskState::Queued | TaskState::Held | TaskState::Failed | TaskState::Waiting
        ) {
            return Err(StoreError::NotNow { task: id, from: task.state(), wish: "wait for another" });
        }
        if let Some(path) = deps::cycle(&upstream(tx, &[on], i64::MAX).await?, self.edge) {
            return Err(StoreError::Cycle { path });
        }
        let insert = sql!(
            "INSERT INTO deps (task, on_task) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING 1",
            id,
            on
        );
        if tx.query(insert).await?.is_empty() {
            return Ok((task, false));
        }
        tx.defer(count_dependency(id, i64::from(state != TaskState::Done), self.now)).await?;
        record(tx, self.now, about(&task), &Fact::DependencyAdded { on }).await?;
        Ok((read_task(tx, id).await?, true))
    }
}

/// The state of a task that is or was waited for, held until the transaction ends: if it finished meanwhile, its
/// dependents would be counted wrongly. Read before the dependent is locked: finishing a task locks the task first and
/// its dependents then, and in the other order the two transactions would deadlock.
async fn hold_state(tx: &mut dyn Tx, on: TaskId) -> Result<Option<TaskState>, StoreError> {
    let row = tx.query_one(sql!("SELECT state FROM tasks WHERE id = $1 {for_share}", on)).await?;
    row.map(|mut row| row.parse()).transpose()
}

fn count_dependency(task: TaskId, change: i64, now: Millis) -> Statement {
    sql!(
        "UPDATE tasks SET open_deps = open_deps + $2, version = version + 1, updated_at = $3 WHERE id = $1",
        task,
        change,
        now,
    )
}

#[derive(Debug, Clone, Copy)]
pub struct RemoveDependency {
    pub edge: Edge,
    pub now: Millis,
}

#[async_trait]
impl Op for RemoveDependency {
    type Out = Task;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Task, StoreError> {
        let Edge { task: id, on } = self.edge;
        let state = hold_state(tx, on).await?;
        let task = lock_task(tx, id).await?;
        let delete = sql!("DELETE FROM deps WHERE task = $1 AND on_task = $2 RETURNING 1", id, on);
        if tx.query(delete).await?.is_empty() {
            return Err(StoreError::NoSuchDependency { task: id, on });
        }
        tx.defer(count_dependency(id, -i64::from(state != Some(TaskState::Done)), self.now)).await?;
        record(tx, self.now, about(&task), &Fact::DependencyRemoved { on }).await?;
        read_task(tx, id).await
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DependencyNode {
    pub state: TaskState,
    pub title: String,
}

#[derive(Debug, Clone, Default)]
pub struct Graph {
    /// Every task on an edge, and those that were asked for.
    pub nodes: BTreeMap<TaskId, DependencyNode>,
    /// Sorted.
    pub edges: Vec<Edge>,
}

/// Everything that some tasks wait for, directly or not. Done ones end the walk: behind them nothing is open.
#[derive(Debug, Clone)]
pub struct DependencyTree {
    pub roots: Vec<TaskId>,
    pub with_done: bool,
    /// At most this many edges, nearest first.
    pub limit: i64,
}

impl DependencyTree {
    /// Enough for any graph that a person reads.
    pub const EVERYTHING: i64 = 100_000;
}

#[async_trait]
impl Op for DependencyTree {
    type Out = Graph;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Graph, StoreError> {
        let edges = if self.with_done {
            upstream(tx, &self.roots, self.limit).await?
        } else {
            open_upstream(tx, &self.roots, self.limit).await?
        };
        let ids: BTreeSet<TaskId> =
            edges.iter().flat_map(|edge| [edge.task, edge.on]).chain(self.roots.iter().copied()).collect();
        let mut nodes = BTreeMap::new();
        let list = id_list(ids.into_iter());
        for mut row in tx.query(sql!("SELECT id, state, title FROM tasks WHERE id IN {list 1}", list)).await?
        {
            nodes.insert(row.parse()?, DependencyNode { state: row.parse()?, title: row.text()? });
        }
        Ok(Graph { nodes, edges })
    }
}

async fn upstream(tx: &mut dyn Tx, roots: &[TaskId], limit: i64) -> Result<Vec<Edge>, StoreError> {
    let walk = sql!(
        "WITH RECURSIVE up (task, on_task) AS ( \
           SELECT task, on_task FROM deps WHERE task IN {list 1} \
           UNION SELECT d.task, d.on_task FROM deps d JOIN up ON d.task = up.on_task) \
         SELECT task, on_task FROM up LIMIT $2",
        id_list(roots.iter().copied()),
        limit,
    );
    edges(tx, walk).await
}

pub(super) async fn open_upstream(
    tx: &mut dyn Tx,
    roots: &[TaskId],
    limit: i64,
) -> Result<Vec<Edge>, StoreError> {
    let walk = sql!(
        "WITH RECURSIVE up (task, on_task) AS ( \
           SELECT d.task, d.on_task FROM deps d JOIN tasks t ON t.id = d.on_task \
             WHERE d.task IN {list 1} AND t.state <> 'done' \
           UNION SELECT d.task, d.on_task FROM up JOIN deps d ON d.task = up.on_task \
             JOIN tasks t ON t.id = d.on_task WHERE t.state <> 'done') \
         SELECT task, on_task FROM up LIMIT $2",
        id_list(roots.iter().copied()),
        limit,
    );
    edges(tx, walk).await
}

/// The edges that a walk finds, sorted: of two obstacles that are equally near, every look names the same.
async fn edges(tx: &mut dyn Tx, walk: Statement) -> Result<Vec<Edge>, StoreError> {
    let rows = tx.query(walk).await?;
    let edge = |mut row: Row| Ok(Edge { task: row.parse()?, on: row.parse()? });
    let mut edges = rows.into_iter().map(edge).collect::<Result<Vec<_>, StoreError>>()?;
    edges.sort_unstable();
    Ok(edges)
}
