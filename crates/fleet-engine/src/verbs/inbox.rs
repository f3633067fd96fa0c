use fleet_api::verbs::inbox::{Answer, Request};

use super::needs_you;
use super::prelude::*;
use crate::waiting::{Waiting, fingerprint};

/// More than anybody reads at once.
const MAX_ITEMS: usize = 200;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let mut waiting = Waiting::start(engine, request.wait_seconds).await?;
    loop {
        let (items, more) = needs_you::find(engine, MAX_ITEMS).await?;
        let next = fingerprint(&items)?;
        if request.after.as_ref() != Some(&next) || !waiting.goes_on().await {
            return Ok(Answer { items, more, next });
        }
    }
}
