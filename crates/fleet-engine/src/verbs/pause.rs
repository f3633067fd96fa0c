use fleet_api::verbs::pause::{Answer, Request};

use super::prelude::*;
use super::queue_pauses;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let scope = queue_pauses::scope(engine, request.agent.as_deref(), request.this_project).await?;
    let pause = ops::PauseQueue { scope, why: request.why, now: engine.time().await? };
    Ok(Answer { changed: engine.call(pause).await?, paused: queue_pauses::all(engine).await? })
}
