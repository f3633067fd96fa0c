use fleet_api::verbs::runner_missing::{Answer, Request};

use super::prelude::*;
use crate::runner::unattended;

pub(crate) async fn run(engine: &Engine, _: Request) -> Outcome<Answer> {
    Ok(Answer { unattended: unattended(engine).await? })
}
