use std::io::ErrorKind;
use std::time::Duration;

use fleet_api::verbs::agents_unfreeze::{Answer, Request};
use fleet_core::schedule::PauseScope;

use super::agents_stop::FROZEN;
use super::prelude::*;
use super::queue_pauses;
use crate::cancellation::wake_keeper;

/// How long to wait for keepers.
const WAKE_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

pub(crate) async fn run(engine: &Engine, _: Request) -> Outcome<Answer> {
    let file = engine.home().frozen();
    let changed = match std::fs::remove_file(&file) {
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        removed => removed.map(|()| true).map_err(problems::at(&file))?,
    };
    let live = engine.call(ops::LiveRuns { place: engine.place()? }).await?;
    let is_frozen = |run: &&Run| engine.home().run(run.id).frozen().exists();
    let frozen: Vec<&Run> = live.iter().filter(is_frozen).collect();
    for run in &live {
        wake_keeper(run.keeper.as_deref());
    }
    let mut left = WAKE_TIMEOUT;
    while frozen.iter().any(is_frozen) && !left.is_zero() {
        left = left.saturating_sub(POLL_INTERVAL);
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    let pauses = engine.call(ops::ListQueuePauses).await?;
    let scope = PauseScope::default();
    if pauses.iter().any(|pause| pause.scope == scope && pause.why == FROZEN) {
        engine.call(ops::ResumeQueue { scope, now: engine.time().await? }).await?;
    }
    let continued = frozen.iter().filter(|run| !is_frozen(run)).count();
    Ok(Answer { changed, continued, paused: queue_pauses::all(engine).await? })
}
