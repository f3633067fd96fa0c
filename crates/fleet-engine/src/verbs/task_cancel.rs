use fleet_api::verbs::task_cancel::{Answer, Request};
use fleet_api::views::TaskView;
use fleet_core::task::{Remark, TaskState};

use super::prelude::*;
use super::task_add::parsed;
use crate::cancellation::{self, CancelRequest, StopUntil, StoppedTask};
use crate::engine::SelectionScope;

const CANCELLABLE: [TaskState; 5] =
    [TaskState::Running, TaskState::Waiting, TaskState::Queued, TaskState::Held, TaskState::Failed];

/// Cancels them. A task that runs is stopped by its keeper: what its agent has done is kept.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let remark: Option<Remark> = request.remark.as_deref().map(parsed).transpose()?;
    let ids = engine.all_selected(&request.ids, &SelectionScope::of(&CANCELLABLE, "unfinished")).await?;
    let cancel =
        CancelRequest { remark, otherwise: "it was cancelled", patience: None, until: StopUntil::Tidy };
    for cancelled in cancellation::cancel_all(engine, &ids, &cancel).await? {
        if let StoppedTask::GoesOn(why) = cancelled.fate {
            let problem = Problem::new(
                Code::KillIncomplete,
                format!("task {} is still running: {why}", cancelled.task),
            );
            return Err(
                problem.hint("it was asked to stop; `fleet start` takes care of a keeper that is stuck")
            );
        }
    }
    Ok(Answer { tasks: views(engine, ids).await? })
}

/// The tasks as they are.
pub(super) async fn views(engine: &Engine, ids: Vec<TaskId>) -> Outcome<Vec<TaskView>> {
    let found = engine.call(ops::All(ids.into_iter().map(|id| ops::GetTask { id }).collect())).await?;
    Ok(found.iter().map(|detail| TaskView::new(&detail.task, engine.now())).collect())
}
