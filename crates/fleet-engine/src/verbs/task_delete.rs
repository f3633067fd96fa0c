use fleet_api::verbs::task_delete::{Answer, Request};
use fleet_api::views::TaskView;
use fleet_core::task::TaskState;

use super::prelude::*;
use super::task_cancel::views;
use crate::engine::SelectionScope;

const DELETABLE: [TaskState; 6] = [
    TaskState::Queued,
    TaskState::Waiting,
    TaskState::Held,
    TaskState::Done,
    TaskState::Failed,
    TaskState::Cancelled,
];

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let ids = engine.all_selected(&request.ids, &SelectionScope::of(&DELETABLE, "deletable")).await?;
    if request.dry_run {
        return Ok(Answer { deleted: views(engine, ids).await? });
    }
    let ids = dependents_first(engine, ids).await?;
    let now = engine.now();
    let tasks =
        engine.call(ops::All(ids.into_iter().map(|id| ops::DeleteTask { id, now }).collect())).await?;
    Ok(Answer { deleted: tasks.iter().map(|task| TaskView::new(task, now).described(task)).collect() })
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
