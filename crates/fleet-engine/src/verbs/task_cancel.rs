use fleet_api::verbs::task_cancel::{Answer, Request};
use fleet_api::views::TaskView;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::task::Remark;
use fleet_store::ops;

use super::task_add::parsed;
use crate::Engine;
use crate::cancellation::{self, CancelRequest, Fate, Until};

/// Cancels them. A task that runs is stopped by its keeper: what its agent has done is kept.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let remark: Option<Remark> = request.remark.as_deref().map(parsed).transpose()?;
    let ids = engine.task_ids(&request.ids).await?;
    let cancel = CancelRequest { remark, otherwise: "it was cancelled", patience: None, until: Until::Tidy };
    for cancelled in cancellation::cancel_all(engine, &ids, &cancel).await? {
        if let Fate::GoesOn(why) = cancelled.fate {
            let problem =
                Problem::new(Code::KillIncomplete, format!("task {} goes on: {why}", cancelled.task));
            return Err(
                problem.hint("it was asked to stop; `fleet start` takes care of a keeper that is stuck")
            );
        }
    }
    let mut tasks = Vec::with_capacity(ids.len());
    for id in ids {
        tasks.push(TaskView::new(&engine.call(ops::GetTask { id }).await?.task, engine.now()));
    }
    Ok(Answer { tasks })
}
