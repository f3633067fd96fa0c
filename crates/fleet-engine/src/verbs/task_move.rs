//! Holds, releases, cancels or retries tasks: all of those named, or none.

use fleet_core::problem::Outcome;
use fleet_core::task::{Remark, TaskMove};
use fleet_store::ops;

use super::task_add::parsed;
use crate::Engine;
use crate::views::TaskView;

/// Which tasks, and what happens to them.
#[derive(Debug, Clone)]
pub struct Request {
    /// Their ids or the beginnings of them.
    pub ids: Vec<String>,
    /// Hold, release, cancel or retry.
    pub event: TaskMove,
    /// Why, for people.
    pub remark: Option<String>,
}

/// Moves the tasks.
pub async fn run(engine: &Engine, request: Request) -> Outcome<Vec<TaskView>> {
    let remark: Option<Remark> = request.remark.as_deref().map(parsed).transpose()?;
    let ids = engine.task_ids(&request.ids).await?;
    let now = engine.now();
    let moves =
        ids.into_iter().map(|id| ops::MoveTask { id, event: request.event, remark: remark.clone(), now });
    let tasks = engine.call(ops::All(moves.collect())).await?;
    Ok(tasks.iter().map(|task| TaskView::new(task, now)).collect())
}
