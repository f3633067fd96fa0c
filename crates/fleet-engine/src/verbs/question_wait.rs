use fleet_api::verbs::question_wait::Request;
use fleet_api::views::QuestionView;
use fleet_core::message::{MessageId, Question};

use super::prelude::*;
use super::{lineage, question};
use crate::waiting::Waiting;

/// Waits until the question is not open any more. While it does, the time of the agent does not count.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<QuestionView> {
    let id = own(engine, &request.id)?;
    let mut waiting = Waiting::start(engine, request.wait_seconds).await?;
    let mut asked = look(engine, id).await?;
    let _call = engine.asking().filter(|_| asked.is_open()).map(crate::keeper::AskingCalls::wait);
    while asked.is_open() && waiting.goes_on().await {
        asked = look(engine, id).await?;
    }
    Ok(QuestionView::from(&asked))
}

/// A question of the task whose agent asks.
pub(super) fn own(engine: &Engine, typed: &str) -> Outcome<MessageId> {
    let id = question::parse(typed).ok_or_else(|| question::unknown(typed))?;
    if lineage::own_task(engine)? == Some(id.task) {
        return Ok(id);
    }
    Err(Problem::new(Code::NotYours, format!("question {id} is not of your task"))
        .hint("`fleet ask` returns the id of your own"))
}

/// The question as it is now: one whose time is over has its default as the answer.
async fn look(engine: &Engine, id: MessageId) -> Outcome<Question> {
    let asked = engine.call(ops::GetQuestion { id }).await?;
    let is_due = asked.default.as_ref().is_some_and(|default| default.at <= engine.now());
    if !asked.is_open() || !is_due {
        return Ok(asked);
    }
    question::answer_by_default(engine, id).await?;
    engine.call(ops::GetQuestion { id }).await
}
