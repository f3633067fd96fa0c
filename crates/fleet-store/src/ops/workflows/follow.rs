//! The workflow follows its tasks.

use fleet_core::task::{Task, TaskState};
use fleet_core::time::Millis;
use fleet_core::workflow::{Again, PartState, StageOf, WorkflowState, again};

use super::flow::Flow;
use super::row::stored_place;
use crate::StoreError;
use crate::tx::{Tx, sql};

/// Lets the workflow of a task that has just moved go on. Costs nothing for a task that has none.
pub(in crate::ops) async fn follow(tx: &mut dyn Tx, task: &Task, now: Millis) -> Result<(), StoreError> {
    let Some(stage) = task.stage else { return Ok(()) };
    // That it was claimed is no news, and a claim holds no workflow.
    if task.state() == TaskState::Running || !is_news(tx, stage, task).await? {
        return Ok(());
    }
    match Flow::lock(tx, stage.workflow).await? {
        Some(mut flow) => flow.follow(tx, task, (stage.part, now)).await,
        None => Ok(()),
    }
}

/// A task that goes back to the queue by itself, as most do, is no news: its stage was running and still is.
async fn is_news(tx: &mut dyn Tx, stage: StageOf, task: &Task) -> Result<bool, StoreError> {
    if task.state().is_settled() {
        return Ok(true);
    }
    let find = sql!(
        "SELECT 1 FROM stages WHERE workflow = $1 AND part = $2 AND state <> 'running'",
        stage.workflow,
        stored_place(stage.part),
    );
    Ok(tx.query_one(find).await?.is_some())
}

impl Flow {
    async fn follow(
        &mut self,
        tx: &mut dyn Tx,
        task: &Task,
        (at, now): (usize, Millis),
    ) -> Result<(), StoreError> {
        let Some(row) = self.parts.get(at) else { return Ok(()) };
        let (from, to) = (row.part.state, PartState::of(task.state()));
        // What was done has been used: somebody who has more to say to the agent does not take that back.
        if from == to || from == PartState::Done || row.part.replaced {
            return Ok(());
        }
        let why = task.history.remark.clone().filter(|_| to.is_bad());
        self.end(tx, at, (to, why, now)).await?;
        if to == PartState::Running && self.workflow.state != WorkflowState::Cancelling {
            if self.workflow.state.is_over() {
                self.revive(tx, None, now).await?;
            }
            self.wake_others(tx, now).await?;
        }
        self.go(tx, now).await
    }

    /// What never began, because of the stage that is tried again or of another, is looked at anew. In a hurry, what was
    /// stopped or failed beside it is tried again as well: otherwise that would stop it at once.
    async fn wake_others(&mut self, tx: &mut dyn Tx, now: Millis) -> Result<(), StoreError> {
        let parts: Vec<_> = self.parts.iter().map(|row| row.part.clone()).collect();
        for fate in again(&self.spec, &parts, None).fates {
            match fate {
                Again::Retried { part } if self.spec.fail_fast || self.part(part)?.task.is_none() => {
                    self.try_again(tx, part, now).await?;
                }
                Again::Retried { .. } => {}
                Again::Replaced { part } => self.part(part)?.part.replaced = true,
            }
        }
        Ok(())
    }
}
