//! Replaces a configuration file by a text that was edited.

use fleet_api::verbs::config_replace::{Answer, Request};
use fleet_core::problem::Outcome;

use super::config_set::file;
use crate::{Engine, config};

/// Replaces it, if the text is right and nobody else changed the file.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let file = file(engine, request.in_project)?;
    config::replace(&file, request.before.as_deref(), &request.after)?;
    Ok(Answer { path: file.path().display().to_string() })
}
