use fleet_api::verbs::task_cancel::Answer;
use fleet_api::verbs::task_retry::Request;
use fleet_core::problem::Outcome;
use fleet_core::task::TaskMove;

use super::task_hold::step;
use crate::Engine;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    step(engine, &request.ids, (TaskMove::Retry, None)).await
}
