use fleet_api::verbs::task_cancel::Answer;
use fleet_api::verbs::task_hold::Request;
use fleet_api::views::TaskView;
use fleet_core::task::{Remark, TaskMove, TaskState};

use super::prelude::*;
use super::task_add::parsed;
use crate::engine::SelectionScope;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let remark = request.remark.as_deref().map(parsed).transpose()?;
    let ids = engine.all_selected(&request.ids, &SelectionScope::of(&[TaskState::Queued], "queued")).await?;
    step(engine, ids, (TaskMove::Hold, remark)).await
}

/// Moves all of these tasks, or none.
pub(super) async fn step(
    engine: &Engine,
    ids: Vec<TaskId>,
    (event, remark): (TaskMove, Option<Remark>),
) -> Outcome<Answer> {
    let now = engine.now();
    let moves = ids.into_iter().map(|id| ops::MoveTask { id, event, remark: remark.clone(), now });
    let tasks = engine.call(ops::All(moves.collect())).await?;
    Ok(Answer { tasks: tasks.iter().map(|task| TaskView::new(task, now)).collect() })
}
