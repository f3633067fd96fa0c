//! What came out of one run, without a look at git or the machine.

use fleet_core::outcome::RunResult;
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
