//! Holds, releases, cancels or retries tasks: all of those named, or none.

use fleet_core::id::TaskId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::task::{Remark, TaskMove};
use fleet_store::ops;

use super::lineage;
use super::task_add::parsed;
use crate::Engine;
use crate::halt::{self, Fate, Until, Wish};
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
    lineage::check_all(engine, ids.iter().copied()).await?;
    if request.event == TaskMove::Cancel {
        return cancel(engine, &ids, remark).await;
    }
    let now = engine.now();
    let moves =
        ids.into_iter().map(|id| ops::MoveTask { id, event: request.event, remark: remark.clone(), now });
    let tasks = engine.call(ops::All(moves.collect())).await?;
    Ok(tasks.iter().map(|task| TaskView::new(task, now)).collect())
}

/// A task that runs is stopped by its keeper: what its agent has done is kept.
async fn cancel(engine: &Engine, ids: &[TaskId], remark: Option<Remark>) -> Outcome<Vec<TaskView>> {
    let wish = Wish { remark, otherwise: "it was cancelled", patience: None, until: Until::Tidy };
    let halted = halt::cancel_all(engine, ids, &wish).await?;
    for halted in halted {
        if let Fate::GoesOn(why) = halted.fate {
            let problem = Problem::new(Code::KillIncomplete, format!("task {} goes on: {why}", halted.task));
            return Err(
                problem.hint("it was asked to stop; `fleet start` takes care of a keeper that is stuck")
            );
        }
    }
    let mut views = Vec::with_capacity(ids.len());
    for id in ids {
        views.push(TaskView::new(&engine.call(ops::GetTask { id: *id }).await?.task, engine.now()));
    }
    Ok(views)
}
