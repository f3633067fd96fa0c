use fleet_api::verbs::task_cancel::Answer;
use fleet_api::verbs::task_retry::Request;
use fleet_core::task::TaskMove;

use super::prelude::*;
use super::resume::resumable;
use super::task_hold::step;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let ids = engine.all_selected(&request.ids, &resumable()).await?;
    step(engine, ids, (TaskMove::Retry, None)).await
}
