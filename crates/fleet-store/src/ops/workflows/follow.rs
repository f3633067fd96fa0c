//! The workflow follows its tasks.

use fleet_core::Machine as _;
use fleet_core::task::{Task, TaskState};
use fleet_core::workflow::{PartMove, PartOf, PartRetry, PartState, WorkflowState, plan_retry};

use super::locked::LockedWorkflow;
use super::row::stored_place;
use crate::ops::prelude::*;

/// Lets the workflow of a task that has just moved go on. Costs nothing for a task that has none.
pub(in crate::ops) async fn follow(tx: &mut dyn Tx, task: &Task, now: Millis) -> Result<(), StoreError> {
    let Some(of) = task.part else { return Ok(()) };
    // A claim changes nothing here, and holds no workflow.
    if task.state() == TaskState::Running || !is_news(tx, of, task).await? {
        return Ok(());
    }
    match LockedWorkflow::lock(tx, of.workflow).await? {
        Some(mut flow) => flow.follow(tx, task, (of.part, now)).await,
        None => Ok(()),
    }
}

/// A task that goes back to the queue by itself, as most do, changes nothing: its part was running and still is.
async fn is_news(tx: &mut dyn Tx, of: PartOf, task: &Task) -> Result<bool, StoreError> {
    if task.state().is_settled() {
        return Ok(true);
    }
    let find = sql!(
        "SELECT 1 FROM parts WHERE workflow = $1 AND part = $2 AND state <> 'running'",
        of.workflow,
        stored_place(of.part),
    );
    Ok(tx.query_one(find).await?.is_some())
}

impl LockedWorkflow {
    async fn follow(
        &mut self,
        tx: &mut dyn Tx,
        task: &Task,
        (at, now): (usize, Millis),
    ) -> Result<(), StoreError> {
        let Some(row) = self.parts.get(at) else { return Ok(()) };
        let event = PartMove::of(task.state());
        // No transition: nothing changed, or what was done has been used, and a follow-up message does not undo that.
        let Ok(to) = row.part.state.next(event) else { return Ok(()) };
        if row.part.replaced {
            return Ok(());
        }
        let why = task.history.remark.clone().filter(|_| to.is_bad());
        self.end(tx, at, (event, why, now)).await?;
        if to == PartState::Running && self.workflow.state != WorkflowState::Cancelling {
            if self.workflow.state.is_over() {
                self.revive(tx, None, now).await?;
            }
            self.wake_others(tx, now).await?;
        }
        self.go(tx, now).await
    }

    /// Parts that never began, because of the retried stage or another, are decided again. In a hurry, what was stopped
    /// or failed beside it is tried again as well: otherwise that would stop it at once.
    async fn wake_others(&mut self, tx: &mut dyn Tx, now: Millis) -> Result<(), StoreError> {
        let parts: Vec<_> = self.parts.iter().map(|row| row.part.clone()).collect();
        for fate in plan_retry(&self.spec, &parts, None).fates {
            match fate {
                PartRetry::Retried { part } if self.spec.fail_fast || self.part(part)?.task.is_none() => {
                    self.try_again(tx, part, now).await?;
                }
                PartRetry::Retried { .. } => {}
                PartRetry::Replaced { part } => self.part(part)?.part.replaced = true,
            }
        }
        Ok(())
    }
}
