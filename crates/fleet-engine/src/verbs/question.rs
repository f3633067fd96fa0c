//! What an agent asked, and the one way to answer it.

use fleet_core::outcome::{ResultStatus, RunResult};
use fleet_core::run::RunState;

use super::prelude::*;

/// The question with which a run ended.
pub(super) async fn of(engine: &Engine, run: Option<&Run>) -> Outcome<Option<String>> {
    let Some(run) = run else { return Ok(None) };
    let result = engine.call(ops::GetRun { run: run.id }).await?.result;
    Ok(result.as_deref().and_then(asked))
}

/// Which of these runs ended with a question.
pub(super) async fn asked_by(engine: &Engine, runs: &[Run]) -> Outcome<Vec<RunId>> {
    let ended = runs.iter().filter(|run| run.state() == RunState::Succeeded);
    let details = engine.call(ops::All(ended.map(|run| ops::GetRun { run: run.id }).collect())).await?;
    let has_asked = |detail: &ops::RunDetail| detail.result.as_deref().and_then(asked).is_some();
    Ok(details.iter().filter(|detail| has_asked(detail)).map(|detail| detail.run.id).collect())
}

/// The question in the result of a run.
pub(super) fn asked(result: &str) -> Option<String> {
    let result: RunResult = serde_json::from_str(result).ok()?;
    (result.status == ResultStatus::Asked).then_some(result.summary)
}

pub(super) fn answer(task: TaskId) -> String {
    format!("`fleet prompt {task} \"…\"` answers it")
}
