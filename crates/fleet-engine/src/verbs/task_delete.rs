//! Removes tasks for good: all of those named, or none.

use fleet_core::id::TaskId;
use fleet_core::problem::Outcome;
use fleet_store::ops;

use super::lineage;
use crate::Engine;
use crate::views::TaskView;

/// Which tasks.
#[derive(Debug, Clone)]
pub struct Request {
    /// Their ids or the beginnings of them.
    pub ids: Vec<String>,
}

/// The tasks that were meant, as they are: for a question before they go.
pub async fn preview(engine: &Engine, request: &Request) -> Outcome<Vec<TaskView>> {
    let mut tasks = Vec::new();
    for id in engine.task_ids(&request.ids).await? {
        tasks.push(TaskView::new(&engine.call(ops::GetTask { id }).await?.task, engine.now()));
    }
    Ok(tasks)
}

/// Deletes the tasks and returns what they were.
pub async fn run(engine: &Engine, request: Request) -> Outcome<Vec<TaskView>> {
    let ids = engine.task_ids(&request.ids).await?;
    lineage::check_all(engine, ids.iter().copied()).await?;
    let ids = dependents_first(engine, ids).await?;
    let now = engine.now();
    let tasks =
        engine.call(ops::All(ids.into_iter().map(|id| ops::DeleteTask { id, now }).collect())).await?;
    Ok(tasks.iter().map(|task| TaskView::new(task, now).described(task)).collect())
}

/// A task that others wait for is not deleted, unless they go before it.
async fn dependents_first(engine: &Engine, mut ids: Vec<TaskId>) -> Outcome<Vec<TaskId>> {
    let limit = ops::DependencyTree::EVERYTHING;
    let graph = engine.call(ops::DependencyTree { roots: ids.clone(), with_done: true, limit }).await?;
    let mut ordered = Vec::with_capacity(ids.len());
    while !ids.is_empty() {
        let awaited = |id: &TaskId| graph.edges.iter().any(|edge| edge.on == *id && ids.contains(&edge.task));
        let free = ids.iter().position(|id| !awaited(id)).unwrap_or(0);
        ordered.push(ids.remove(free));
    }
    Ok(ordered)
}
