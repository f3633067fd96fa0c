//! Reads a setting.

use fleet_api::verbs::config_get::Request;
use fleet_api::views::SettingView;
use fleet_core::problem::Outcome;

use crate::Engine;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<SettingView> {
    Ok(engine.config()?.get(&request.key)?.view())
}
