use fleet_api::verbs::task_find::{Answer, Request};

use super::lineage;
use super::prelude::*;

/// Finds it. More than an id can name one, so that whose it is can be checked only here.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let task = engine.task_id(&request.id).await?;
    lineage::check_project(engine, task).await?;
    Ok(Answer { task, run: engine.run_id(&request.id).await.ok() })
}
