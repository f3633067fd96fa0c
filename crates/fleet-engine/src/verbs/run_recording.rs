use fleet_api::verbs::run_recording::{Answer, Request};

use super::prelude::*;
use super::{elsewhere, run_logs};

pub(crate) async fn run(engine: &Engine, Request { id, attempt }: Request) -> Outcome<Answer> {
    let run = run_logs::attempt_of(engine, &id, attempt).await?;
    let detail = engine.call(ops::GetRun { run }).await?;
    elsewhere::refuse(engine, &detail.run)?;
    let path = engine.home().run(run).recording();
    if !path.exists() {
        let message = format!("run {run} has no recording: its agent had no terminal");
        return Err(Problem::new(Code::NoTerminal, message)
            .hint(format!("`fleet logs {run}` shows what it said and did")));
    }
    Ok(Answer { run, path })
}
