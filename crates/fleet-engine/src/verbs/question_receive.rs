use fleet_api::verbs::question_receive::{Answer, Request};

use super::prelude::*;
use super::question_wait::own;

pub(crate) async fn run(engine: &Engine, Request { id }: Request) -> Outcome<Answer> {
    let Some(run) = engine.caller()?.run() else {
        return Err(Problem::new(Code::NotInARun, "this is not inside a run"));
    };
    let id = own(engine, &id)?;
    let noted = engine.call(ops::ReceiveAnswer { id, run, now: engine.now() }).await?;
    Ok(Answer { noted })
}
