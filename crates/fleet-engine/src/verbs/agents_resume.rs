use fleet_api::verbs::agents_pause::Answer;
use fleet_api::verbs::agents_resume::Request;

use super::agents_show;
use super::prelude::*;
use crate::agents;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    agents_show::find(engine, &request.agent)?;
    let account = agents::account(engine, &request.agent)?;
    let lift = ops::LiftPause { account: account.clone(), now: engine.time().await? };
    Ok(Answer { changed: engine.call(lift).await?, account, paused_until: None })
}
