use fleet_api::verbs::task_cancel::Answer;
use fleet_api::verbs::task_dep_remove::Request;

use super::prelude::*;
use super::task_dep_add::{edges, view};

/// Removes all of the dependencies, or none.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let edges = edges(engine, &request.id, &request.on).await?;
    let now = engine.now();
    let removing = edges.iter().map(|edge| ops::RemoveDependency { edge: *edge, now });
    engine.call(ops::All(removing.collect())).await?;
    view(engine, &request.id).await
}
