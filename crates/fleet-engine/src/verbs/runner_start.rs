use fleet_api::verbs::runner_start::{Answer, Request};

use super::prelude::*;
use super::runner_status::view;
use crate::runner::start_in_background;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    Ok(match start_in_background(engine, request.slots).await? {
        Ok(runner) => Answer { runner: view(&runner), started: true },
        Err(runner) => Answer { runner: view(&runner), started: false },
    })
}
