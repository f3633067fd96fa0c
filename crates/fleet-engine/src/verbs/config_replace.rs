//! Replaces a configuration file by a text that was edited.

use fleet_api::verbs::config_replace::{Answer, Request};

use super::config_set::file;
use super::prelude::*;
use crate::config;

/// Replaces it, if the text is valid and the file has not changed meanwhile.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let file = file(engine, request.in_project)?;
    config::replace(&file, request.before.as_deref(), &request.after)?;
    Ok(Answer { path: file.path().display().to_string() })
}
