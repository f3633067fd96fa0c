//! Work that no runner takes.
//!
//! Owns when a missing runner is started. No process has to stay alive for that: any process that notices (a command, a
//! keeper at its end, the MCP server) starts it. Must never start one where the user never did, or stopped it.

use fleet_api::verbs::runner_missing::Unattended;
use fleet_core::problem::Outcome;
use fleet_store::ops::{CountUpcoming, UpcomingTasks};

use super::{Startable, autostart, needs, registry};
use crate::Engine;
use crate::caller::is_inside_a_run;
use crate::verbs::doctor;

/// Counting stops here: every list does this.
const COUNTED: i64 = 100;

/// Returns the tasks that wait for a missing runner, and starts it if the user wanted one. Not for agents: their runner
/// takes care of that.
pub async fn unattended(engine: &Engine) -> Outcome<Option<Unattended>> {
    if !doctor::is_there(engine) || is_inside_a_run(engine)? {
        return Ok(None);
    }
    let Some(found) = find_unattended(engine).await? else { return Ok(None) };
    let started = engine.home().runner_wanted().exists() && autostart(engine)?;
    Ok(Some(Unattended { started, ..found }))
}

/// The same, without starting a runner.
pub(crate) async fn find_unattended(engine: &Engine) -> Outcome<Option<Unattended>> {
    let up = registry::taking_tasks(engine.home())?;
    if !up.is_empty() {
        return Ok(None);
    }
    let upcoming = engine.call(CountUpcoming { limit: COUNTED, now: engine.time().await? }).await?;
    let startable = Startable::look(engine, upcoming.tasks.iter().map(needs)).await?;
    let startable: Vec<&UpcomingTasks> =
        upcoming.tasks.iter().filter(|tasks| startable.has(needs(tasks))).collect();
    let (ready, scheduled) = (
        startable.iter().map(|tasks| tasks.ready).sum::<usize>(),
        startable.iter().map(|tasks| tasks.scheduled).sum::<usize>(),
    );
    let more = upcoming.more_ready || upcoming.more_scheduled;
    Ok((ready + scheduled > 0).then_some(Unattended { ready, scheduled, more, started: false }))
}
