use fleet_api::verbs::pause::Answer;
use fleet_api::verbs::unpause::Request;

use fleet_core::schedule::PauseScope;

use super::prelude::*;
use super::queue_pauses;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let scope = queue_pauses::scope(engine, request.agent.as_deref(), request.this_project).await?;
    if scope == PauseScope::default() && engine.home().frozen().exists() {
        return Err(Problem::new(Code::Usage, "every agent of this home is frozen; nothing was done")
            .hint("`fleet unfreeze` lets them continue, and lifts the pause"));
    }
    let resume = ops::ResumeQueue { scope, now: engine.time().await? };
    Ok(Answer { changed: engine.call(resume).await?, paused: queue_pauses::all(engine).await? })
}
