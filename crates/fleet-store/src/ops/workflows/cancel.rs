//! Ending a workflow that somebody does not want any more.

use async_trait::async_trait;
use fleet_core::event::Fact;
use fleet_core::id::{RunId, TaskId, WorkflowId};
use fleet_core::task::Remark;
use fleet_core::time::Millis;
use fleet_core::workflow::{Workflow, WorkflowMove, WorkflowState};

use super::flow::Flow;
use super::halt::{Halt, halt};
use super::row::about;
use crate::StoreError;
use crate::ops::rows::record;
use crate::tx::{Mode, Op, Tx, sql};

/// Ends everything that belongs to a workflow: what waits is cancelled, what runs is asked to stop. It is over when the
/// last run has ended. Asking again asks those again that have not.
#[derive(Debug, Clone)]
pub struct CancelWorkflow {
    /// Which.
    pub id: WorkflowId,
    /// Why, for people.
    pub why: Option<Remark>,
    /// Now.
    pub now: Millis,
}

/// A workflow that is not wanted any more.
#[derive(Debug, Clone)]
pub struct CancelledWorkflow {
    /// The workflow as it is now.
    pub workflow: Workflow,
    /// The runs that were asked to stop, now or before, and have not ended yet.
    pub runs: Vec<RunId>,
}

#[async_trait]
impl Op for CancelWorkflow {
    type Out = CancelledWorkflow;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<CancelledWorkflow, StoreError> {
        let mut flow = Flow::lock_named(tx, self.id).await?;
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
    /// A stage that was done may be at work again, because somebody had more to say to its agent. The workflow does not
    /// wait for it, but it belongs to it all the same.
    async fn stop_the_rest(&self, tx: &mut dyn Tx, flow: &Flow) -> Result<Vec<RunId>, StoreError> {
        let live = sql!(
            "SELECT t.id FROM stages s JOIN tasks t ON t.id = s.task WHERE s.workflow = $1 \
             AND t.state IN ('queued', 'held', 'running', 'waiting') ORDER BY s.part",
            self.id,
        );
        let mut runs = Vec::new();
        for mut row in tx.query(live).await? {
            let task: TaskId = row.parse()?;
            if let Halt::Asked(run) = halt(tx, task, (&flow.reason_to_stop(), self.now)).await? {
                runs.push(run);
            }
        }
        Ok(runs)
    }
}
