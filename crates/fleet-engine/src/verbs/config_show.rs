//! Lists every setting that is in force.

use fleet_api::verbs::config_show::{Answer, Request};

use super::prelude::*;
use crate::config::Setting;

pub(crate) async fn run(engine: &Engine, _: Request) -> Outcome<Answer> {
    Ok(Answer { settings: engine.config()?.settings().iter().map(Setting::view).collect() })
}
