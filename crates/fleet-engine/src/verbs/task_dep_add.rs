use fleet_api::verbs::task_cancel::Answer;
use fleet_api::verbs::task_dep_add::Request;
use fleet_api::views::TaskView;
use fleet_core::deps::Edge;

use super::prelude::*;
use super::task_show;

/// Adds all of the dependencies, or none.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let edges = edges(engine, &request.id, &request.on).await?;
    let now = engine.now();
    let adding = edges.iter().map(|edge| ops::AddDependency { edge: *edge, now });
    engine.call(ops::All(adding.collect())).await?;
    view(engine, &request.id).await
}

pub(super) async fn edges(engine: &Engine, task: &str, on: &[String]) -> Outcome<Vec<Edge>> {
    let task = engine.task_id(task).await?;
    let on: Vec<TaskId> = engine.task_ids(on).await?;
    Ok(on.into_iter().map(|on| Edge { task, on }).collect())
}

pub(super) async fn view(engine: &Engine, task: &str) -> Outcome<Answer> {
    let id = engine.task_id(task).await?;
    let task = engine.call(ops::GetTask { id }).await?.task;
    let obstacle = if task.open_deps > 0 { task_show::obstacle(engine, id).await? } else { None };
    Ok(Answer { tasks: vec![TaskView::new(&task, engine.now()).behind(obstacle.as_ref())] })
}
