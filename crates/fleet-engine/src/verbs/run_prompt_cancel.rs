use fleet_api::verbs::run_prompt_cancel::{Answer, Request};
use fleet_api::views::MessageView;
use fleet_core::message::MessageId;

use super::lineage;
use super::prelude::*;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let task = engine.task_id(&request.id).await?;
    lineage::check(engine, task).await?;
    let id = MessageId { task, seq: request.number };
    let now = engine.now();
    match engine.call(ops::CancelMessage { id, now }).await? {
        Some((message, true)) => Ok(Answer { prompt: MessageView::new(&message, now) }),
        Some((message, false)) => {
            let shown = MessageView::new(&message, now);
            let state = if shown.state == "waiting" { "on its way to its agent" } else { &shown.state };
            Err(Problem::new(
                Code::IllegalTransition,
                format!("message {id} is {state}: it cannot be taken back"),
            )
            .hint(format!("send another one: `fleet prompt {task} \"…\"`")))
        }
        None => Err(Problem::field("number", format!("there is no message {} to task {task}", id.seq))
            .hint(format!("`fleet prompt --status {task}` lists them"))),
    }
}
