use fleet_api::verbs::runner_wake::{Answer, Request, Runner};
use fleet_core::problem::Outcome;

use crate::home::Home;
use crate::runner::{autostart, registry};
use crate::{Engine, problems};

/// Starts it if none is up and the user did not forbid it; does not wait for it.
pub(crate) async fn run(engine: &Engine, _: Request) -> Outcome<Answer> {
    if autostart(engine)? {
        return Ok(Answer { runner: Runner::Started });
    }
    let home = Home::new(engine.home());
    let up = registry::taking_tasks(&home).map_err(|error| problems::io(&home.runners(), &error))?;
    let is_off = up.is_empty() && !engine.config()?.general().autostart;
    Ok(Answer { runner: if is_off { Runner::Off } else { Runner::Up } })
}
