use fleet_api::verbs::task_cancel::Answer;
use fleet_api::verbs::task_hold::Request;
use fleet_api::views::TaskView;
use fleet_core::problem::Outcome;
use fleet_core::task::{Remark, TaskMove};
use fleet_store::ops;

use super::task_add::parsed;
use crate::Engine;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let remark = request.remark.as_deref().map(parsed).transpose()?;
    step(engine, &request.ids, (TaskMove::Hold, remark)).await
}

/// Has the same happen to all tasks that somebody means, or nothing to any.
pub(super) async fn step(
    engine: &Engine,
    typed: &[String],
    (event, remark): (TaskMove, Option<Remark>),
) -> Outcome<Answer> {
    let ids = engine.task_ids(typed).await?;
    let now = engine.now();
    let moves = ids.into_iter().map(|id| ops::MoveTask { id, event, remark: remark.clone(), now });
    let tasks = engine.call(ops::All(moves.collect())).await?;
    Ok(Answer { tasks: tasks.iter().map(|task| TaskView::new(task, now)).collect() })
}
