//! Holds a run while a repair acts for its keeper.

use std::time::Duration;

use fleet_core::id::RunId;
use fleet_core::problem::Outcome;
use fleet_store::{Store, StoreError, ops};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::{Engine, clock};

/// Renews the lease of a run until this is dropped. Ending its processes and saving its work may take longer than other
/// places wait, and they would try its task again: with half of the work, and with a branch that is set meanwhile.
pub(super) struct Renewal {
    task: JoinHandle<()>,
}

impl Renewal {
    /// Renews it for the first time. `None` if the run is over, or not in this store.
    pub(super) async fn begin(engine: &Engine, run: RunId) -> Outcome<Option<Self>> {
        let Some(known) = engine.known_run(run).await? else { return Ok(None) };
        let (store, lease) = (engine.store().await?.clone(), engine.config()?.runner().lease);
        let hold = RenewedLease { store, run, attempt: known.attempt, lease };
        if !hold.renew().await {
            return Ok(None);
        }
        Ok(Some(Self { task: tokio::spawn(hold.keep()) }))
    }
}

impl Drop for Renewal {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct RenewedLease {
    store: Store,
    run: RunId,
    attempt: i64,
    lease: Duration,
}

impl RenewedLease {
    async fn keep(self) {
        loop {
            sleep(self.lease / 3).await;
            if !self.renew().await {
                return;
            }
        }
    }

    /// False if another place has taken the run over, or if it has ended. A store that does not answer is asked again.
    async fn renew(&self) -> bool {
        let Self { run, attempt, lease, .. } = *self;
        let renewed = self.store.call(ops::RenewLease { run, attempt, lease, now: clock::now() }).await;
        !matches!(renewed, Err(StoreError::LeaseLost { .. } | StoreError::RunNotFound(_)))
    }
}
