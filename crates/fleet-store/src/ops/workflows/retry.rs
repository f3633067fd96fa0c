//! Trying a workflow again.

use fleet_core::id::WorkflowId;
use fleet_core::task::TaskMove;
use fleet_core::workflow::{PartMove, PartRetry, StageName, Workflow, WorkflowMove, plan_retry};

use super::locked::LockedWorkflow;
use super::row::about;
use crate::ops::branches::refuse_taken;
use crate::ops::prelude::*;
use crate::ops::rows::{self, lock_task, record, step, write_agent, write_move_alone};

/// Tries a workflow again that is over: all that failed, was cancelled or was skipped because of that.
#[derive(Debug, Clone)]
pub struct RetryWorkflow {
    pub id: WorkflowId,
    /// This stage and all that build on it are done once more, however they ended; with new tasks.
    pub from: Option<StageName>,
    pub now: Millis,
}

#[async_trait]
impl Op for RetryWorkflow {
    type Out = Workflow;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Workflow, StoreError> {
        let mut flow = LockedWorkflow::lock_named(tx, self.id).await?;
        let from = self.stage(&flow)?;
        let parts: Vec<_> = flow.parts.iter().map(|row| row.part.clone()).collect();
        let retry = plan_retry(&flow.spec, &parts, from);
        let state = flow.workflow.state();
        if retry.fates.is_empty() {
            let event = WorkflowMove::Retry;
            return Err(StoreError::IllegalWorkflow { workflow: self.id, from: state, event });
        }
        flow.revive(tx, self.from.as_ref(), self.now).await?;
        for fate in retry.fates {
            match fate {
                PartRetry::Retried { part } => flow.try_again(tx, part, self.now).await?,
                PartRetry::Replaced { part } => flow.part(part)?.part.replaced = true,
            }
        }
        flow.expand(retry.parts);
        flow.go(tx, self.now).await?;
        Ok(flow.workflow)
    }
}

impl RetryWorkflow {
    fn stage(&self, flow: &LockedWorkflow) -> Result<Option<usize>, StoreError> {
        let Some(name) = &self.from else { return Ok(None) };
        let found = flow.spec.find(name.as_str());
        found.map(Some).ok_or_else(|| StoreError::StageNotFound {
            workflow: self.id,
            stage: name.to_string(),
            choices: flow.spec.stages.iter().map(|stage| stage.name.to_string()).collect(),
        })
    }
}

impl LockedWorkflow {
    /// A user wants stages retried: the workflow continues.
    pub(super) async fn revive(
        &mut self,
        tx: &mut dyn Tx,
        from: Option<&StageName>,
        now: Millis,
    ) -> Result<(), StoreError> {
        self.step(WorkflowMove::Retry)?;
        (self.workflow.why, self.workflow.ended_at) = (None, None);
        let fact = Fact::WorkflowRetried { workflow: self.workflow.id, from: from.map(ToString::to_string) };
        record(tx, now, about(&self.workflow, None), &fact).await
    }

    /// Queues the task of a part again, with a clean record; one that never was a task waits again.
    pub(super) async fn try_again(
        &mut self,
        tx: &mut dyn Tx,
        at: usize,
        now: Millis,
    ) -> Result<(), StoreError> {
        let Some(id) = self.part(at)?.task else { return self.wait_again(at) };
        let mut task = lock_task(tx, id).await?;
        step(&mut task, TaskMove::Retry)?;
        task.history.reset_failures();
        task.history.remark = None;
        refuse_taken(tx, &task).await?;
        if task.history.handed_to.take().is_some() {
            write_agent(tx, &task).await?;
        }
        write_move_alone(tx, &task, now, (rows::about(&task), &Fact::TaskRetried {})).await?;
        self.end(tx, at, (PartMove::Resume, None, now)).await
    }

    /// A part that never began becomes pending again.
    fn wait_again(&mut self, at: usize) -> Result<(), StoreError> {
        let row = self.move_part(at, PartMove::Reset)?;
        (row.part.skip, row.detail, row.ended_at) = (None, None, None);
        Ok(())
    }
}
