//! Asking a run to stop. Only its keeper can end it: it alone knows what the agent left.

use fleet_core::run::{Run, RunMove, StopRequest};

use super::row::{about_run, illegal, lock_run};
use crate::ops::prelude::*;
use crate::ops::rows::{json, record};

/// Wants a run stopped; its keeper learns of it at its next renewal, and is woken to renew. Asking again changes
/// nothing, except that a cancellation beats a release.
#[derive(Debug, Clone)]
pub struct RequestStop {
    /// The run, which must be live.
    pub run: RunId,
    /// What becomes of the task, and why.
    pub stop: StopRequest,
    pub now: Millis,
}

#[async_trait]
impl Op for RequestStop {
    /// The stop that is in force now.
    type Out = StopRequest;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<StopRequest, StoreError> {
        let run = lock_run(tx, self.run).await?;
        if !run.state.is_live() {
            return Err(illegal(&run, RunMove::Cancel));
        }
        order_stop(tx, &run, &self.stop, self.now).await
    }
}

/// Requests the stop of a live run that the caller has locked.
pub(in crate::ops) async fn order_stop(
    tx: &mut dyn Tx,
    run: &Run,
    stop: &StopRequest,
    now: Millis,
) -> Result<StopRequest, StoreError> {
    match &run.stop {
        Some(earlier) if !stop.supersedes(Some(earlier)) => Ok(earlier.clone()),
        _ => {
            tx.defer(sql!("UPDATE runs SET stop = $2 WHERE id = $1", run.id, json(stop)?)).await?;
            record(tx, now, about_run(run), &Fact::RunStopping { why: stop.why.clone() }).await?;
            Ok(stop.clone())
        }
    }
}
