use std::time::Duration;

use fleet_api::verbs::agents_pause::{Answer, Request};

use super::agents_show;
use super::prelude::*;
use crate::agents;

/// Pauses the account of this agent: no task starts with it for this time.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let Request { agent, seconds, why } = request;
    agents_show::find(engine, &agent)?;
    let (account, now) = (agents::account(engine, &agent)?, engine.time().await?);
    let until = now.plus(Duration::from_secs(seconds));
    let pause = ops::PauseAccount { account: account.clone(), agent: agent.parse().ok(), until, why, now };
    let changed = engine.call(pause).await?;
    let pauses = engine.call(ops::ListPauses { now }).await?;
    let until = pauses.into_iter().find(|pause| pause.account == account).map(|pause| Moment(pause.until));
    Ok(Answer { account, paused_until: until, changed })
}
