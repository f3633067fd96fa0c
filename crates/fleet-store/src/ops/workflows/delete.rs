//! Removing workflows.

use fleet_core::id::WorkflowId;
use fleet_core::task::{Task, TaskState};
use fleet_core::workflow::Workflow;

use super::locked::LockedWorkflow;
use super::row::about;
use crate::ops::moves::DeleteTask;
use crate::ops::prelude::*;
use crate::ops::rows::{lock_task, record};
use crate::tx::Lock;

/// Removes a workflow that is over, and its tasks, for good. Their runs and the events stay: they happened.
#[derive(Debug, Clone, Copy)]
pub struct DeleteWorkflow {
    pub id: WorkflowId,
    pub now: Millis,
}

#[async_trait]
impl Op for DeleteWorkflow {
    /// The workflow, and its tasks as they were.
    type Out = (Workflow, Vec<Task>);
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Self::Out, StoreError> {
        // No new dependency may appear between the look and the removal.
        tx.lock(Lock::Dependencies).await?;
        let flow = LockedWorkflow::lock_named(tx, self.id).await?;
        let from = flow.workflow.state();
        if !from.is_over() {
            return Err(StoreError::WorkflowLive { workflow: self.id, from });
        }
        let mut tasks = Vec::new();
        for id in flow.parts.iter().filter_map(|row| row.task) {
            tasks.push(self.delete(tx, id).await?);
        }
        tx.defer(sql!("DELETE FROM parts WHERE workflow = $1", self.id)).await?;
        tx.defer(sql!("DELETE FROM workflow_texts WHERE workflow = $1", self.id)).await?;
        tx.defer(sql!("DELETE FROM workflows WHERE id = $1", self.id)).await?;
        let fact = Fact::WorkflowDeleted { workflow: self.id, name: flow.workflow.name.clone() };
        record(tx, self.now, about(&flow.workflow, None), &fact).await?;
        Ok((flow.workflow, tasks))
    }
}

impl DeleteWorkflow {
    /// A stage that was done may be at work again: then the workflow stays.
    async fn delete(&self, tx: &mut dyn Tx, id: TaskId) -> Result<Task, StoreError> {
        let task = lock_task(tx, id).await?;
        if task.state() == TaskState::Running {
            return Err(StoreError::NotNow { task: id, from: task.state(), wish: "be deleted" });
        }
        DeleteTask { id, now: self.now }.erase(tx, &task).await?;
        Ok(task)
    }
}
