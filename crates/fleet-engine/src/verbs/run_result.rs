//! What came out of one run, without a look at git or the machine.

use std::collections::BTreeMap;

use fleet_core::id::RunId;
use fleet_core::outcome::{AgentExit, RunResult};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_store::ops;

use crate::Engine;
use crate::views::RunView;

/// What came out of a run.
#[derive(Debug, Clone)]
pub struct Response {
    /// The run.
    pub run: RunView,
    /// What was found in the end; nothing while it is at work.
    pub result: Option<RunResult>,
}

/// Looks at the run that somebody means.
pub async fn run(engine: &Engine, id: &str) -> Outcome<Response> {
    let run = engine.run_id(id).await?;
    let detail = engine.call(ops::GetRun { run }).await?;
    let parsed = detail.result.as_deref().map(serde_json::from_str).transpose();
    let result = parsed.map_err(|error| {
        Problem::new(Code::StoreFailed, format!("the result of run {run} cannot be read: {error}"))
    })?;
    Ok(Response { run: RunView::from(&detail.run), result })
}

/// The exit statuses of the agents of these runs, as a shell shows them, for those that were started and have ended.
pub async fn exit_codes(engine: &Engine, runs: Vec<RunId>) -> Outcome<BTreeMap<RunId, i32>> {
    let details = engine.call(ops::All(runs.into_iter().map(|run| ops::GetRun { run }).collect())).await?;
    let code = |detail: ops::RunDetail| {
        let result: RunResult = serde_json::from_str(&detail.result?).ok()?;
        Some((detail.run.id, exit_code(&result.exit)?))
    };
    Ok(details.into_iter().filter_map(code).collect())
}

const fn exit_code(exit: &AgentExit) -> Option<i32> {
    match exit {
        AgentExit::Code(code) => Some(*code),
        AgentExit::Signal(signal) => Some(128 + *signal),
        AgentExit::NotStarted(_) => None,
    }
}
