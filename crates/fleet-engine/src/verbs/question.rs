//! What agents asked, and the one way to answer it.

use fleet_core::message::{BY_DEFAULT, MessageId, Question, TypedAnswer, numbered};
use fleet_core::outcome::{ResultStatus, RunResult};
use fleet_core::run::RunState;

use super::prelude::*;

/// More than a task may have.
const MAX_OPEN: i64 = 100;

/// The open questions of a task, oldest first.
pub(super) async fn open_of(engine: &Engine, task: TaskId) -> Outcome<Vec<Question>> {
    engine.call(ops::OpenQuestions { of: ops::QuestionsOf::Task(task), limit: MAX_OPEN }).await
}

/// What is asked, with the options.
pub(super) fn sentence(question: &Question) -> String {
    let text = question.text.as_str();
    if question.options.is_empty() {
        return text.to_owned();
    }
    format!("{text} ({})", numbered(&question.options))
}

/// Which of these runs ended with a question.
pub(super) async fn asked_by(engine: &Engine, runs: &[Run]) -> Outcome<Vec<RunId>> {
    let ended = runs.iter().filter(|run| run.state() == RunState::Succeeded);
    let details = engine.call(ops::All(ended.map(|run| ops::GetRun { run: run.id }).collect())).await?;
    let has_asked = |detail: &ops::RunDetail| detail.result.as_deref().is_some_and(asked);
    Ok(details.iter().filter(|detail| has_asked(detail)).map(|detail| detail.run.id).collect())
}

/// Whether a run with this result ended with a question.
pub(super) fn asked(result: &str) -> bool {
    serde_json::from_str::<RunResult>(result).is_ok_and(|result| result.status == ResultStatus::Asked)
}

/// The one way to answer, as everybody tells it.
pub(super) fn how_to_answer(id: MessageId) -> String {
    format!("`fleet answer {id} \"…\"` answers it")
}

/// The id of a question, written out.
pub(super) fn parse(typed: &str) -> Option<MessageId> {
    let (task, seq) = typed.rsplit_once('.')?;
    Some(MessageId { task: task.parse().ok()?, seq: seq.parse().ok()? })
}

pub(super) fn unknown(typed: &str) -> Problem {
    Problem::new(Code::QuestionNotFound, format!("{typed:?} is not the id of a question"))
        .hint("`fleet inbox` lists open questions")
}

/// Answers a question whose time is over, unless somebody was faster.
pub(crate) async fn answer_by_default(engine: &Engine, id: MessageId) -> Outcome<()> {
    let (answer, by, now) = (TypedAnswer::Default, BY_DEFAULT.to_owned(), engine.now());
    match engine.call(ops::AnswerQuestion { id, answer, by, now }).await {
        Err(problem) if !matches!(problem.code, Code::QuestionClosed | Code::QuestionNotFound) => {
            Err(problem)
        }
        _ => Ok(()),
    }
}

/// Answers all questions whose time is over. One that cannot be answered keeps none of the others waiting; the last problem is
/// returned.
pub(crate) async fn answer_due(engine: &Engine) -> Outcome<()> {
    let due = ops::OpenQuestions { of: ops::QuestionsOf::Due(engine.now()), limit: MAX_OPEN };
    let mut done = Ok(());
    for question in engine.call(due).await? {
        done = answer_by_default(engine, question.id).await.and(done);
    }
    done
}
