//! Cancelling a workflow.

use fleet_core::id::WorkflowId;
use fleet_core::task::Remark;
use fleet_core::workflow::{Workflow, WorkflowMove, WorkflowState};

use super::cancel_task::{CancelOutcome, cancel_task};
use super::locked::LockedWorkflow;
use super::row::about;
use crate::ops::prelude::*;
use crate::ops::rows::record;

/// Ends everything that belongs to a workflow: what waits is cancelled, what runs is asked to stop. It is over when the
/// last run has ended. Asking again asks those again that have not.
#[derive(Debug, Clone)]
pub struct CancelWorkflow {
    pub id: WorkflowId,
    pub why: Option<Remark>,
    pub now: Millis,
}

#[derive(Debug, Clone)]
pub struct CancelledWorkflow {
    pub workflow: Workflow,
    /// The runs that were asked to stop, now or before, and have not ended yet.
    pub runs: Vec<RunId>,
}

#[async_trait]
impl Op for CancelWorkflow {
    type Out = CancelledWorkflow;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<CancelledWorkflow, StoreError> {
        let mut flow = LockedWorkflow::lock_named(tx, self.id).await?;
        if flow.workflow.state == WorkflowState::Cancelling {
            flow.go(tx, self.now).await?;
        } else if flow.workflow.state != WorkflowState::Cancelled {
            flow.step(WorkflowMove::Cancel)?;
            flow.workflow.why = self.why.as_ref().map(|why| why.as_str().to_owned());
            let fact = Fact::WorkflowCancelling { workflow: self.id, why: flow.workflow.why.clone() };
            record(tx, self.now, about(&flow.workflow, None), &fact).await?;
            flow.go(tx, self.now).await?;
        }
        let runs = self.stop_the_rest(tx, &flow).await?;
        Ok(CancelledWorkflow { workflow: flow.workflow, runs })
    }
}

impl CancelWorkflow {
    /// A stage that was done may be running again, because a follow-up message arrived. The workflow does not
    /// wait for it, but it belongs to it all the same.
    async fn stop_the_rest(&self, tx: &mut dyn Tx, flow: &LockedWorkflow) -> Result<Vec<RunId>, StoreError> {
        let live = sql!(
            "SELECT t.id FROM parts p JOIN tasks t ON t.id = p.task WHERE p.workflow = $1 \
             AND t.state IN ('queued', 'held', 'running', 'waiting') ORDER BY p.part",
            self.id,
        );
        let mut runs = Vec::new();
        for mut row in tx.query(live).await? {
            let task: TaskId = row.parse()?;
            if let CancelOutcome::Asked(run) =
                cancel_task(tx, task, (&flow.reason_to_stop(), self.now)).await?
            {
                runs.push(run);
            }
        }
        Ok(runs)
    }
}
