use fleet_api::verbs::task_delete::{Answer, Request};
use fleet_api::views::TaskView;
use fleet_core::id::TaskId;
use fleet_core::problem::Outcome;
use fleet_store::ops;

use crate::Engine;

/// Deletes the tasks, and tells what they were.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let ids = engine.task_ids(&request.ids).await?;
    if request.dry_run {
        return meant(engine, ids).await;
    }
    let ids = dependents_first(engine, ids).await?;
    let now = engine.now();
    let tasks =
        engine.call(ops::All(ids.into_iter().map(|id| ops::DeleteTask { id, now }).collect())).await?;
    Ok(Answer { deleted: tasks.iter().map(|task| TaskView::new(task, now).described(task)).collect() })
}

/// The tasks as they are: for a question before they go.
async fn meant(engine: &Engine, ids: Vec<TaskId>) -> Outcome<Answer> {
    let mut deleted = Vec::with_capacity(ids.len());
    for id in ids {
        deleted.push(TaskView::new(&engine.call(ops::GetTask { id }).await?.task, engine.now()));
    }
    Ok(Answer { deleted })
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
