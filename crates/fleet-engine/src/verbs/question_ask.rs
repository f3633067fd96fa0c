use std::time::Duration;

use fleet_api::verbs::question_ask::Request;
use fleet_api::views::QuestionView;
use fleet_core::message::{DefaultAnswer, QuestionDraft};
use fleet_core::task::PromptText;

use super::prelude::*;
use super::task_add::parsed;
use crate::fault;

/// The longest question, in bytes: a person reads all of it.
const LONGEST_QUESTION: usize = 64 << 10;

/// Stores the question first; a run that parks it ends after that.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<QuestionView> {
    let Some(run) = engine.caller()?.run() else {
        return Err(Problem::new(Code::NotInARun, "this is not inside a run"));
    };
    let park = request.park;
    let now = engine.now();
    let draft = draft(request, now)?;
    fault::point(engine, "question-received").await;
    let asked = engine.call(ops::AskQuestion { run, draft, now }).await?;
    fault::point(engine, "question-stored").await;
    // One that was answered meanwhile is no reason to end.
    if let (true, true, Some(asking)) = (park, asked.is_open(), engine.asking()) {
        asking.park();
    }
    Ok(QuestionView::from(&asked))
}

fn draft(request: Request, now: Millis) -> Outcome<QuestionDraft> {
    if request.text.len() > LONGEST_QUESTION {
        let message = format!("it has {} bytes, at most {LONGEST_QUESTION} are allowed", request.text.len());
        return Err(Problem::field("text", message).hint("ask in a few sentences"));
    }
    let text: PromptText = parsed(request.text.trim())?;
    let default = match (request.default, request.timeout_seconds) {
        (Some(text), Some(seconds)) => {
            Some(DefaultAnswer { text, at: now.plus(Duration::from_secs(seconds)) })
        }
        (None, None) => None,
        (Some(_), None) => return Err(Problem::field("timeout", "a default answer needs a time")),
        (None, Some(_)) => return Err(Problem::field("default", "a time needs an answer that then counts")),
    };
    let draft = QuestionDraft { text, options: request.options, default, park: request.park };
    draft.checked().map_err(|error| problems::store(error.into()))
}
