//! Pausing the account of an agent, and taking a pause back.

use std::time::Duration;

use fleet_core::problem::Outcome;
use fleet_store::ops;
use serde::Serialize;

use super::{agents_show, lineage};
use crate::views::Moment;
use crate::{Engine, agents};

/// What was done.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// The account.
    pub account: String,
    /// Until when it takes no work; `None` if it takes work.
    pub paused_until: Option<Moment>,
    /// Whether anything changed: a pause is never made shorter, and what is not paused cannot be resumed.
    pub changed: bool,
}

/// Lets no task start with the account of this agent for so long.
pub async fn pause(engine: &Engine, agent: &str, span: Duration, why: &str) -> Outcome<Response> {
    lineage::people_only(engine, "pause an account")?;
    agents_show::find(engine, agent)?;
    let (account, now) = (agents::account(engine, agent)?, engine.time().await?);
    let pause = ops::PauseAccount {
        account: account.clone(),
        agent: agent.parse().ok(),
        until: now.plus(span),
        why: why.to_owned(),
        now,
    };
    let changed = engine.call(pause).await?;
    let pauses = engine.call(ops::ListPauses { now }).await?;
    let until = pauses.into_iter().find(|pause| pause.account == account).map(|pause| Moment(pause.until));
    Ok(Response { account, paused_until: until, changed })
}

/// Lets tasks start again with the account of this agent.
pub async fn resume(engine: &Engine, agent: &str) -> Outcome<Response> {
    lineage::people_only(engine, "take back the pause of an account")?;
    agents_show::find(engine, agent)?;
    let account = agents::account(engine, agent)?;
    let lift = ops::LiftPause { account: account.clone(), now: engine.time().await? };
    Ok(Response { changed: engine.call(lift).await?, account, paused_until: None })
}
