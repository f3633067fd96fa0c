mod discard;

use std::time::Duration;

use fleet_api::verbs::run_kill::{Answer, KillOutcome, Killed, Request};
use fleet_api::views::Followed;

use super::follow;
use super::prelude::*;
use crate::cancellation::{self, CancelRequest, CancelledTask, StopUntil, StoppedTask};

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let tasks = engine.task_ids(&request.tasks).await?;
    let seen = follow::look(engine, &tasks).await?;
    let patience = request.wait_millis.map(Duration::from_millis);
    // Who deletes the branch has to wait for the last commit on it, and who says how long wants to wait.
    let is_quick = !request.discard && patience.is_none();
    let cancel = CancelRequest {
        remark: None,
        otherwise: "stopped by `fleet kill`",
        patience,
        until: if is_quick { StopUntil::Safe } else { StopUntil::Tidy },
    };
    let tasks: Vec<TaskId> = seen.iter().map(|one| one.task.id).collect();
    let cancelled = cancellation::cancel(engine, &tasks, &cancel).await?;
    let mut killed = Vec::with_capacity(seen.len());
    for (target, cancelled) in seen.iter().zip(cancelled) {
        let mut one = killed_of(target, cancelled);
        discard::settle(engine, &request, &mut one).await?;
        killed.push(one);
    }
    Ok(Answer { killed })
}

fn killed_of(target: &Followed, cancelled: CancelledTask) -> Killed {
    let live = target.run.as_ref().filter(|run| run.state.is_live()).map(|run| run.id);
    let tidying = cancelled.fate == StoppedTask::Tidying;
    let (outcome, detail) = match cancelled.fate {
        StoppedTask::Stopped | StoppedTask::Tidying => (KillOutcome::Stopped, None),
        StoppedTask::Cancelled => (KillOutcome::Cancelled, None),
        StoppedTask::Over => (KillOutcome::Over, None),
        StoppedTask::GoesOn(why) => (KillOutcome::GoesOn, Some(why)),
    };
    Killed {
        task: target.task.id,
        title: target.task.title.clone(),
        run: cancelled.run.or(live),
        outcome,
        detail,
        tidying,
        branch: None,
        remarks: Vec::new(),
        discarded: false,
        snapshot: None,
    }
}
