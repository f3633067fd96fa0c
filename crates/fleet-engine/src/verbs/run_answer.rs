use fleet_api::verbs::run_answer::{Answer, Request};

use super::elsewhere;
use super::prelude::*;
use crate::terminal;

pub(crate) async fn run(engine: &Engine, Request { id, answer }: Request) -> Outcome<Answer> {
    let run = engine.run_id(&id).await?;
    let detail = engine.call(ops::GetRun { run }).await?;
    elsewhere::refuse(engine, &detail.run)?;
    if !terminal::answer(engine.home(), run, answer).await? {
        let message = format!("run {run} has no terminal: its agent asks nobody");
        return Err(
            Problem::new(Code::NoTerminal, message).hint(format!("`fleet why {run}` says what it is doing"))
        );
    }
    let asked = detail.run.agent_state.map(|now| now.text).filter(|text| !text.is_empty());
    Ok(Answer { run, agent: detail.run.agent, asked, answer })
}
