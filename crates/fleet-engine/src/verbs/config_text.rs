//! Reads a configuration file, for an editor.

use fleet_api::verbs::config_text::{Answer, Request};

use super::config_set::file;
use super::prelude::*;
use crate::config;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let file = file(engine, request.in_project)?;
    let text = config::text(&file)?;
    Ok(Answer { path: file.path().display().to_string(), text, template: config::template() })
}
