use fleet_api::verbs::task_cancel::Answer;
use fleet_api::verbs::task_release::Request;
use fleet_core::task::{TaskMove, TaskState};

use super::prelude::*;
use super::task_hold::step;
use crate::engine::SelectionScope;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let ids = engine.all_selected(&request.ids, &SelectionScope::of(&[TaskState::Held], "held")).await?;
    step(engine, ids, (TaskMove::Release, None)).await
}
