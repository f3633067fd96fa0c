use fleet_api::verbs::about::{Answer, Request};

use super::prelude::*;
use crate::caller::is_inside_a_run;

pub(crate) async fn run(engine: &Engine, _: Request) -> Outcome<Answer> {
    let config = engine.config().ok();
    // An agent does not learn where codefleet keeps its files.
    let is_agent = is_inside_a_run(engine)?;
    let store_file = if is_agent { None } else { engine.store_file() };
    let home = if is_agent { String::new() } else { engine.home().root().display().to_string() };
    let git = engine.environment().find_program("git");
    Ok(Answer {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        home,
        store_file: store_file.map(|path| path.display().to_string()),
        git: git.map(|path| path.display().to_string()),
        default_agent: config.map(|config| config.agent().to_owned()),
        autostart: config.is_some_and(|config| config.general().autostart),
        spawn_depth: config.map_or(0, |config| config.general().spawn_depth),
        heartbeat_seconds: config.map_or(0, |config| config.runner().lease.as_secs() / 3),
    })
}
