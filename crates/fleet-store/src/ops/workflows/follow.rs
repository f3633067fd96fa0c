//! The workflow follows its tasks.

use fleet_core::event::Fact;
use fleet_core::task::{Task, TaskState};
use fleet_core::time::Millis;
use fleet_core::workflow::{Again, PartState, StageOf, WorkflowMove, WorkflowState, again};

use super::flow::Flow;
use super::row::{about, stored_place};
use crate::StoreError;
use crate::ops::rows::record;
use crate::tx::{Tx, sql};

/// Lets the workflow of a task that has just moved go on. Costs nothing for a task that has none.
pub(in crate::ops) async fn follow<T: Tx>(tx: &mut T, task: &Task, now: Millis) -> Result<(), StoreError> {
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
async fn is_news<T: Tx>(tx: &mut T, stage: StageOf, task: &Task) -> Result<bool, StoreError> {
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
    async fn follow<T: Tx>(
        &mut self,
        tx: &mut T,
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
            self.revive(tx, now).await?;
            self.wake_others()?;
        }
        self.go(tx, now).await
    }

    /// Somebody wants a stage tried again: the workflow goes on, even if it was over.
    pub(super) async fn revive<T: Tx>(&mut self, tx: &mut T, now: Millis) -> Result<(), StoreError> {
        if !self.workflow.state.is_over() {
            return Ok(());
        }
        self.step(WorkflowMove::Retry)?;
        (self.workflow.why, self.workflow.ended_at) = (None, None);
        let fact = Fact::WorkflowRetried { workflow: self.workflow.id, from: None };
        record(tx, now, about(&self.workflow, None), &fact).await
    }

    /// What never began, because of the stage that is tried again or of another, is looked at anew.
    fn wake_others(&mut self) -> Result<(), StoreError> {
        let parts: Vec<_> = self.parts.iter().map(|row| row.part.clone()).collect();
        for fate in again(&self.spec, &parts, None).fates {
            match fate {
                Again::Retried { part } if self.part(part)?.task.is_none() => self.wait_again(part)?,
                Again::Retried { .. } => {}
                Again::Replaced { part } => self.part(part)?.part.replaced = true,
            }
        }
        Ok(())
    }

    /// A part that never began waits again.
    pub(super) fn wait_again(&mut self, at: usize) -> Result<(), StoreError> {
        let row = self.part(at)?;
        (row.part.state, row.part.skip) = (PartState::Pending, None);
        (row.detail, row.ended_at) = (None, None);
        Ok(())
    }
}
