//! Ending the task of a stage that is not wanted any more.

use fleet_core::run::{StopKind, StopRequest};
use fleet_core::task::{TaskMove, TaskState};

use crate::ops::prelude::*;
use crate::ops::questions::withdraw_open;
use crate::ops::rows::{about, lock_task, step, write_move_alone};
use crate::ops::runs::row::{run, run_columns};
use crate::ops::runs::stop::order_stop;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CancelOutcome {
    /// It had no run: it is cancelled.
    Cancelled,
    /// Its run was asked to stop, now or before: its keeper ends it.
    Asked(RunId),
    Over,
}

/// Cancels a task, or asks its run to stop. The caller holds the workflow, so only a claim can move its tasks; and
/// after a claim, there is a run to ask.
pub(super) async fn cancel_task(
    tx: &mut dyn Tx,
    id: TaskId,
    (why, now): (&str, Millis),
) -> Result<CancelOutcome, StoreError> {
    let mut task = lock_task(tx, id).await?;
    if task.state().is_settled() {
        return Ok(CancelOutcome::Over);
    }
    if task.state() != TaskState::Running {
        step(&mut task, TaskMove::Cancel)?;
        task.history.remark = Some(why.to_owned());
        let fact = Fact::TaskCancelled { remark: Some(why.to_owned()) };
        withdraw_open(tx, task.id, now).await?;
        write_move_alone(tx, &task, now, (about(&task), &fact)).await?;
        return Ok(CancelOutcome::Cancelled);
    }
    let live = sql!(
        concat!(
            "SELECT ",
            run_columns!(),
            " FROM runs r WHERE r.task = $1 AND r.ended_at IS NULL {for_update}"
        ),
        id,
    );
    let row = tx.query_one(live).await?;
    let mut row = row.ok_or_else(|| StoreError::Malformed(format!("task {id} is running without a run")))?;
    let run = run(&mut row)?;
    order_stop(tx, &run, &StopRequest { kind: StopKind::Cancel, why: why.to_owned() }, now).await?;
    Ok(CancelOutcome::Asked(run.id))
}
