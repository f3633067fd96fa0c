use fleet_api::verbs::run_hook::{Answer, Request};

use super::prelude::*;

/// More than the states of an agent need; the rest of a longer call is left out by its sender.
const LONGEST_PAYLOAD: usize = 256 << 10;

pub(crate) async fn run(engine: &Engine, Request { payload }: Request) -> Outcome<Answer> {
    if payload.len() > LONGEST_PAYLOAD {
        let message = format!("it has {} bytes, at most {LONGEST_PAYLOAD} are allowed", payload.len());
        return Err(Problem::field("payload", message));
    }
    let taken = engine.hooks().is_some_and(|hooks| hooks.call(payload.into_bytes()));
    Ok(Answer { taken })
}
