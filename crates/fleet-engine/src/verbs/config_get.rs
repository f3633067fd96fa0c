//! Reads a setting.

use fleet_api::verbs::config_get::Request;
use fleet_api::views::SettingView;

use super::prelude::*;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<SettingView> {
    Ok(engine.config()?.get(&request.key)?.view())
}
