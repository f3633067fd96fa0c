use std::time::Duration;

use fleet_api::verbs::runner_stop::{Answer, Request};
use fleet_core::run::{StopKind, StopRequest};
use fleet_host::process::{self, Signal};

use super::prelude::*;
use super::runner_status::view;
use crate::cancellation::wake_keeper;
use crate::reconcile::{Reconciler, Repairs};
use crate::runner::registry;

/// A runner has nothing to do when it ends; a keeper stops its agent step by step.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// How often runs without a keeper are looked for.
const REPAIR_INTERVAL: Duration = Duration::from_secs(1);

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let home = engine.home();
    let up = || registry::up(home);
    let runners = up()?;
    // First, or a keeper that ends just now would start another one.
    if !request.restart {
        let _ = std::fs::remove_file(home.runner_wanted());
    }
    for runner in &runners {
        let _ = runner.process.signal(Signal::TERM);
    }
    wait("a runner does not end", || Ok(up()?.is_empty())).await?;
    let place = engine.place()?;
    let released =
        if request.agents { release(engine, &place, "codefleet was stopped").await? } else { Vec::new() };
    let interactive = released.iter().filter(|run| run.mode.is_interactive()).count();
    let going_on = engine.call(ops::LiveRuns { place }).await?.len();
    Ok(Answer {
        runners: runners.iter().map(view).collect(),
        going_on,
        released: released.len(),
        interactive,
    })
}

/// Asks every keeper to give its task back, and waits for them.
pub(super) async fn release(engine: &Engine, place: &str, why: &str) -> Outcome<Vec<Run>> {
    let live = engine.call(ops::LiveRuns { place: place.to_owned() }).await?;
    for run in &live {
        let stop = StopRequest { kind: StopKind::Release, why: why.to_owned() };
        let asked =
            engine.store().await?.call(ops::RequestStop { run: run.id, stop, now: clock::now() }).await;
        match asked {
            // A process that has ended in between does not matter.
            Ok(_)
            | Err(
                StoreError::LeaseLost { .. } | StoreError::IllegalRun { .. } | StoreError::RunNotFound(_),
            ) => {}
            Err(error) => return Err(problems::store(error)),
        }
        wake_keeper(run.keeper.as_deref());
    }
    let (mut reconciler, mut repairs) = (Reconciler::new(engine)?, Repairs::new(engine));
    let (mut left, mut looked) = (STOP_TIMEOUT, None);
    while !engine.call(ops::LiveRuns { place: place.to_owned() }).await?.is_empty() {
        // A keeper that is gone does not answer, and no runner is up that would notice.
        if looked.is_none_or(|looked| clock::uptime().saturating_sub(looked) >= REPAIR_INTERVAL) {
            repairs.ended(&process::reap(), &reconciler).await;
            repairs.begin_all(&reconciler.look().await?.due);
            looked = Some(clock::uptime());
        }
        left = left.checked_sub(POLL_INTERVAL).ok_or_else(|| stuck("an agent does not end"))?;
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    // A keeper cleans up after its run has ended in the store; a removal of the home must not get in its way.
    while reconciler.is_any_kept()? && !left.is_zero() {
        left = left.saturating_sub(POLL_INTERVAL);
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    Ok(live)
}

async fn wait(what: &str, done: impl Fn() -> Outcome<bool>) -> Outcome<()> {
    let mut left = STOP_TIMEOUT;
    while !done()? {
        left = left.checked_sub(POLL_INTERVAL).ok_or_else(|| stuck(what))?;
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    Ok(())
}

fn stuck(what: &str) -> Problem {
    Problem::new(Code::Io, what).hint("`fleet status` shows what is still there")
}
