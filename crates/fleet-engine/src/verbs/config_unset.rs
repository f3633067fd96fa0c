//! Takes a value out of a configuration file.

use fleet_api::verbs::config_unset::{Answer, Request};

use super::config_set::file;
use super::prelude::*;
use crate::config;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let file = file(engine, request.in_project)?;
    let removed = config::unset(&file, &request.key)?;
    Ok(Answer { key: request.key, removed, path: file.path().display().to_string() })
}
