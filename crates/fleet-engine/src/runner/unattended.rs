//! Work that nobody does.
//!
//! Owns what everybody who notices does about it. There is no process that must stay alive, so whoever comes by (a
//! command that looks, a keeper at its end, the MCP server) starts the runner that is missing. Must never start one
//! where nobody ever did, or where somebody stopped it.

use fleet_api::verbs::runner_missing::Unattended;
use fleet_core::problem::Outcome;
use fleet_core::task::{Status, Task};

use super::{Startable, autostart, registry, upcoming};
use crate::caller::is_inside_a_run;
use crate::home::Home;
use crate::verbs::doctor;
use crate::{Engine, problems};

/// Checks whether tasks wait for a missing runner, and starts one if it is missed. Not for agents: their runner takes
/// care of that.
pub async fn unattended(engine: &Engine) -> Outcome<Option<Unattended>> {
    let home = Home::new(engine.home());
    if !doctor::is_there(engine) || is_inside_a_run(engine)? {
        return Ok(None);
    }
    let Some(found) = left_alone(engine).await? else { return Ok(None) };
    let started = home.runner_wanted().exists() && autostart(engine)?;
    Ok(Some(Unattended { started, ..found }))
}

/// The same for those who only look.
pub(crate) async fn left_alone(engine: &Engine) -> Outcome<Option<Unattended>> {
    let home = Home::new(engine.home());
    let up = registry::taking_tasks(&home).map_err(|error| problems::io(&home.runners(), &error))?;
    if !up.is_empty() {
        return Ok(None);
    }
    let found = upcoming(engine).await?;
    let startable = Startable::look(engine, &found.tasks).await?;
    Ok(counted(found.tasks.iter().filter(|task| startable.has(task)), found.more, engine))
}

/// `None` if there are none.
fn counted<'t>(tasks: impl Iterator<Item = &'t Task>, more: bool, engine: &Engine) -> Option<Unattended> {
    let now = engine.now();
    let (ready, scheduled): (Vec<_>, Vec<_>) = tasks.partition(|task| task.status(now) == Status::Ready);
    let (ready, scheduled) = (ready.len(), scheduled.len());
    (ready + scheduled > 0).then_some(Unattended { ready, scheduled, more, started: false })
}
