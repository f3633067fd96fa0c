//! Checks the configuration.

use fleet_api::verbs::config_validate::{Answer, Request};
use fleet_core::problem::Outcome;

use crate::Engine;

pub(crate) async fn run(engine: &Engine, _: Request) -> Outcome<Answer> {
    Ok(engine.check_config())
}
