//! Checks the configuration.

use fleet_api::verbs::config_validate::{Answer, Request};

use super::prelude::*;

pub(crate) async fn run(engine: &Engine, _: Request) -> Outcome<Answer> {
    Ok(engine.check_config())
}
