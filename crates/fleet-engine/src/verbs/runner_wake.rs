use fleet_api::verbs::runner_wake::{Answer, Request, RunnerPresence};

use super::prelude::*;
use crate::runner::{autostart, registry};

/// Starts it if none is up and the user did not forbid it; does not wait for it.
pub(crate) async fn run(engine: &Engine, _: Request) -> Outcome<Answer> {
    if autostart(engine)? {
        return Ok(Answer { runner: RunnerPresence::Started });
    }
    let up = registry::taking_tasks(engine.home())?;
    let is_off = up.is_empty() && !engine.config()?.general().autostart;
    Ok(Answer { runner: if is_off { RunnerPresence::Off } else { RunnerPresence::Up } })
}
