//! Removes tasks for good: all of those named, or none.

use fleet_core::problem::Outcome;
use fleet_store::ops;

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
    let now = engine.now();
    let tasks =
        engine.call(ops::All(ids.into_iter().map(|id| ops::DeleteTask { id, now }).collect())).await?;
    Ok(tasks.iter().map(|task| TaskView::new(task, now).described(task)).collect())
}
