use fleet_api::verbs::question_answer::{Answer, Request};
use fleet_api::views::{QuestionView, TaskView};
use fleet_core::message::{MessageId, TypedAnswer};

use super::prelude::*;
use super::question;
use crate::{caller, fault};

/// More than a task may have.
const MAX_OPEN: i64 = 100;

/// Stores the answer; starting a requeued task is the caller's business.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let id = meant(engine, &request.id).await?;
    let answer = if request.own_words {
        TypedAnswer::OwnWords(request.answer)
    } else {
        TypedAnswer::Choice(request.answer)
    };
    let (by, now) = (caller::who(engine)?, engine.now());
    fault::point(engine, "answer-received").await;
    let answered = engine.call(ops::AnswerQuestion { id, answer, by, now }).await?;
    fault::point(engine, "answer-stored").await;
    Ok(Answer {
        question: QuestionView::from(&answered.question),
        task: TaskView::new(&answered.task, now),
        run: answered.run.map(|run| run.id),
        open: answered.open,
    })
}

/// The question that is named; the only open one, if a task is.
async fn meant(engine: &Engine, typed: &str) -> Outcome<MessageId> {
    if let Some(id) = question::parse(typed) {
        return Ok(id);
    }
    // Like the id of a message, with another name of its task before the number.
    if let Some((task, number)) = typed.rsplit_once('.')
        && let (Ok(task), Ok(seq)) = (engine.task_id(task).await, number.parse())
    {
        return Ok(MessageId { task, seq });
    }
    let task = engine.task_id(typed).await?;
    let open = ops::OpenQuestions { of: ops::QuestionsOf::Task(task), limit: MAX_OPEN };
    let open = engine.call(open).await?;
    match &open[..] {
        [only] => Ok(only.id),
        [] => Err(Problem::new(Code::QuestionNotFound, format!("task {task} has no open question"))
            .hint("`fleet inbox` lists open questions")
            .hint(format!("`fleet prompt {task} \"…\"` sends its agent a message"))),
        several => {
            let ids = several.iter().map(|one| one.id.to_string()).collect::<Vec<_>>().join(", ");
            Err(Problem::new(Code::IdAmbiguous, format!("task {task} has several open questions: {ids}"))
                .hint("name one of them: `fleet answer ID \"…\"`"))
        }
    }
}
