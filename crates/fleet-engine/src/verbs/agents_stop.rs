use std::time::Duration;

use fleet_api::verbs::agents_stop::{Answer, Request, StopAgents};
use fleet_core::run::RunState;
use fleet_core::schedule::PauseScope;

use super::prelude::*;
use super::runner_stop;
use crate::cancellation::wake_keeper;
use crate::home::create_private;

/// How long to wait for keepers to confirm.
const CONFIRM_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Why the queue is paused while agents are frozen.
pub(super) const FROZEN: &str = "every agent is frozen, `fleet unfreeze` lets them continue";
const ENDED: &str = "every agent was ended";

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    match request.how {
        StopAgents::Freeze => freeze(engine).await,
        StopAgents::End => end(engine).await,
    }
}

async fn freeze(engine: &Engine) -> Outcome<Answer> {
    // First the agents, even if the store does not answer: keepers look at this file by themselves, too.
    let file = engine.home().frozen();
    create_private(&file).map_err(problems::at(&file))?;
    pause(engine, FROZEN).await?;
    let place = engine.place()?;
    let live = engine.call(ops::LiveRuns { place: place.clone() }).await?;
    for run in &live {
        wake_keeper(run.keeper.as_deref());
    }
    let mut left = CONFIRM_TIMEOUT;
    loop {
        // One that is being prepared has no agent yet, and gets none.
        let live = engine.call(ops::LiveRuns { place: place.clone() }).await?;
        let working = live.iter().filter(|run| run.state == RunState::Running).map(|run| run.id);
        let (frozen, unconfirmed): (Vec<RunId>, Vec<RunId>) =
            working.partition(|run| engine.home().run(*run).frozen().exists());
        if unconfirmed.is_empty() || left.is_zero() {
            return Ok(Answer { frozen: frozen.len(), ended: 0, unconfirmed });
        }
        left = left.saturating_sub(POLL_INTERVAL);
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

async fn end(engine: &Engine) -> Outcome<Answer> {
    pause(engine, ENDED).await?;
    let ended = runner_stop::release(engine, &engine.place()?, ENDED).await?;
    let file = engine.home().frozen();
    if file.exists() {
        std::fs::remove_file(&file).map_err(problems::at(&file))?;
    }
    Ok(Answer { frozen: 0, ended: ended.len(), unconfirmed: Vec::new() })
}

/// Nothing new is started. The reason of a person who has paused everything before stays.
async fn pause(engine: &Engine, why: &str) -> Outcome<()> {
    let pauses = engine.call(ops::ListQueuePauses).await?;
    let scope = PauseScope::default();
    let is_ours = |why: &str| [FROZEN, ENDED].contains(&why);
    if pauses.iter().all(|pause| pause.scope != scope || is_ours(&pause.why)) {
        engine.call(ops::PauseQueue { scope, why: why.to_owned(), now: engine.time().await? }).await?;
    }
    Ok(())
}
