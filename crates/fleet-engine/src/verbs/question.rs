//! What an agent asked, and the one way to answer it.

use fleet_core::outcome::{ResultStatus, RunResult};

use super::prelude::*;

/// The question with which a run ended.
pub(super) async fn of(engine: &Engine, run: Option<&Run>) -> Outcome<Option<String>> {
    let Some(run) = run else { return Ok(None) };
    let result = engine.call(ops::GetRun { run: run.id }).await?.result;
    Ok(result.as_deref().and_then(asked))
}

/// The question in the result of a run.
pub(super) fn asked(result: &str) -> Option<String> {
    let result: RunResult = serde_json::from_str(result).ok()?;
    (result.status == ResultStatus::Asked).then_some(result.summary)
}

pub(super) fn answer(task: TaskId) -> String {
    format!("`fleet prompt {task} \"…\"` answers it")
}
