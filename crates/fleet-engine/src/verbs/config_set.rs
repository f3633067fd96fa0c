//! Sets values in a configuration file.

use fleet_api::verbs::config_set::{Answer, Request};

use super::prelude::*;
use crate::agents;
use crate::config::{self, ConfigFile, Setting};

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    for new in request.settings.iter().filter(|new| new.key == "agent") {
        check_agent(engine, &new.value)?;
    }
    let new: Vec<(&str, &str)> =
        request.settings.iter().map(|new| (new.key.as_str(), new.value.as_str())).collect();
    let settings = config::set_all(&file(engine, request.in_project)?, &new)?;
    // A configuration that cannot be read otherwise is no reason not to set this.
    let warn = |setting| agents::unknown_in_setting(engine, setting).unwrap_or_default();
    let warnings = settings.iter().flat_map(warn).collect();
    Ok(Answer { settings: settings.iter().map(Setting::view).collect(), warnings })
}

/// Every task without an agent would wait for one that does not exist. What describes it comes first.
fn check_agent(engine: &Engine, name: &str) -> Outcome<()> {
    match agents::check_known(engine, name) {
        // A configuration that cannot be read otherwise is no reason not to set this.
        Err(problem) if problem.field.is_none() => Ok(()),
        known => known,
    }
}

/// The file that a verb is about: the repository's or the user's.
pub(super) fn file(engine: &Engine, in_project: bool) -> Outcome<ConfigFile> {
    if !in_project {
        return Ok(engine.user_config());
    }
    engine.position().check_reach()?;
    engine.project_config()
}
