//! Takes held tasks up again: all of those named, or none.

use fleet_api::verbs::task_cancel::Answer;
use fleet_api::verbs::task_release::Request;
use fleet_core::problem::Outcome;
use fleet_core::task::TaskMove;

use super::task_hold::step;
use crate::Engine;

/// Releases them.
pub async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    step(engine, &request.ids, (TaskMove::Release, None)).await
}
