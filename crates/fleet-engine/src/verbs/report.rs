use fleet_api::verbs::report::{Answer, Request};
use fleet_core::run::RunReport;

use super::prelude::*;

/// Records the report for the run of the agent that calls.
pub(crate) async fn run(engine: &Engine, Request { report }: Request) -> Outcome<Answer> {
    let Some(run) = engine.caller()?.run() else {
        return Err(Problem::new(Code::NotInARun, "this is not inside a run"));
    };
    if is_empty(&report) {
        return Err(Problem::field("text", "it is empty"));
    }
    engine.call(ops::ReportRun { run, report: report.clone(), now: engine.now() }).await?;
    Ok(Answer { run, report })
}

fn is_empty(report: &RunReport) -> bool {
    match report {
        RunReport::Done(_) => false,
        RunReport::Fail(text) | RunReport::Note(text) | RunReport::Progress { text, .. } => {
            text.trim().is_empty()
        }
    }
}
