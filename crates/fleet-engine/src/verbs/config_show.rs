//! Lists every setting that is in force.

use fleet_api::verbs::config_show::{Answer, Request};
use fleet_core::problem::Outcome;

use crate::Engine;
use crate::config::Setting;

pub(crate) async fn run(engine: &Engine, _: Request) -> Outcome<Answer> {
    Ok(Answer { settings: engine.config()?.settings().iter().map(Setting::view).collect() })
}
