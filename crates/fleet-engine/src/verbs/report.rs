use fleet_api::verbs::report::{Answer, Request};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_store::ops;

use crate::Engine;

/// Takes it down. Which run it is about is not said by the request: it is that of the agent who asks.
pub(crate) async fn run(engine: &Engine, Request { report }: Request) -> Outcome<Answer> {
    let Some(run) = engine.caller()?.run() else {
        return Err(Problem::new(Code::NotInARun, "this is not inside a run"));
    };
    engine.call(ops::ReportRun { run, report: report.clone(), now: engine.now() }).await?;
    Ok(Answer { run, report })
}
