//! Leases: how they are kept, and what happens when they are not.

use std::time::Duration;

use fleet_core::run::{Ending, Reason, StopRequest};
use fleet_core::task::Task;
use serde::{Deserialize, Serialize};

use super::end::EndRun;
use super::failure::FailureSettings;
use super::row::lock_both;
use crate::ops::messages::waits;
use crate::ops::prelude::*;

/// Makes a lease longer, never shorter: one that comes late may have been overtaken.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct RenewLease {
    pub run: RunId,
    pub attempt: i64,
    /// The lease lasts this long from now.
    pub lease: Duration,
    pub now: Millis,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Renewed {
    pub stop: Option<StopRequest>,
    /// How many messages wait that the agent may get while it works.
    pub messages: i64,
}

#[async_trait]
impl Op for RenewLease {
    type Out = Renewed;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Renewed, StoreError> {
        let renew = sql!(
            concat!(
                "UPDATE runs SET lease_until = CASE WHEN lease_until < $3 THEN $3 ELSE lease_until END \
                 WHERE id = $1 AND fence = $2 AND ended_at IS NULL RETURNING stop, \
                   (SELECT count(*) FROM messages m WHERE m.task = runs.task AND m.live = 1 \
                      AND (m.taken_by IS NULL OR m.taken_by <> $1) AND ",
                waits!("$4"),
                ")"
            ),
            self.run,
            self.attempt,
            self.now.plus(self.lease),
            self.now,
        );
        let renewed = tx.query_alone(renew).await?.into_iter().next();
        let mut row = renewed.ok_or(StoreError::LeaseLost { run: self.run })?;
        Ok(Renewed { stop: row.optional_json()?, messages: row.int()? })
    }
}

/// Tasks that were lost together are not retried together: the odd distance spreads them over any wait.
const RETRY_SPREAD: usize = 1_597;

/// Ends the runs whose keepers stopped renewing; returns them. Their tasks are retried by policy.
#[derive(Debug, Clone)]
pub struct ExpireLeases {
    /// Whose runs; `None` is everyone's.
    pub elsewhere: Option<OtherPlaces>,
    pub limit: i64,
    pub after: FailureSettings,
    pub jitter: u64,
    pub now: Millis,
}

/// Only the runs of other places, and those a while later: each place looks after its own, where the processes are.
#[derive(Debug, Clone)]
pub struct OtherPlaces {
    /// The place whose runs are left alone.
    pub here: String,
    /// How long after their leases the others end.
    pub grace: Duration,
}

/// A locked task is about to change anyway. Waiting for it would queue up all processes that expire leases, each
/// holding a few tasks that others then wait for. In one order everywhere, but not by the index of the tasks: that one
/// has all runs that ever were.
const OF_NO_WORKFLOW: &str = "SELECT r.task, r.id, r.fence FROM runs r JOIN tasks t ON t.id = r.task \
     WHERE r.ended_at IS NULL AND r.lease_until < $1 AND r.place <> $3 AND t.workflow IS NULL \
     ORDER BY r.task || '' LIMIT $2 {skip_locked t}";

/// The workflow of a stage is locked before its task, and a locked workflow is skipped like a locked task.
const OF_WORKFLOWS: &str = "SELECT r.task, r.id, r.fence FROM runs r JOIN tasks t ON t.id = r.task \
     JOIN workflows w ON w.id = t.workflow \
     WHERE r.ended_at IS NULL AND r.lease_until < $1 AND r.place <> $3 ORDER BY r.task || '' LIMIT $2 {skip_locked w}";

impl ExpireLeases {
    fn expired(&self, which: &'static str) -> Statement {
        // No place has an empty name.
        let here = self.elsewhere.as_ref().map_or("", |elsewhere| elsewhere.here.as_str());
        sql!(which, self.deadline(), self.limit, here)
    }

    /// Leases that ended before this have expired.
    fn deadline(&self) -> Millis {
        let grace = self.elsewhere.as_ref().map_or(Duration::ZERO, |elsewhere| elsewhere.grace);
        let millis = i64::try_from(grace.as_millis()).unwrap_or(i64::MAX);
        Millis(self.now.0.saturating_sub(millis))
    }
}

#[async_trait]
impl Op for ExpireLeases {
    type Out = Vec<(Task, RunId)>;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Self::Out, StoreError> {
        let deadline = self.deadline();
        let expired = tx.query_all(vec![self.expired(OF_NO_WORKFLOW), self.expired(OF_WORKFLOWS)]).await?;
        let expired = expired.into_iter().flatten().take(usize::try_from(self.limit).unwrap_or(0));
        let mut ended = Vec::new();
        for (mut row, spread) in expired.zip((0..).step_by(RETRY_SPREAD)) {
            let (task, run, attempt) = (row.parse()?, row.parse()?, row.int()?);
            // Another process may have been quicker between the read and the lock; a renewal counts, too.
            let (task, run) = match lock_both(tx, task, run, attempt).await {
                Ok((task, run)) if run.lease_until < deadline => (task, run),
                Ok(_) | Err(StoreError::LeaseLost { .. }) => continue,
                Err(error) => return Err(error),
            };
            let ending = Ending::Failed(Reason::Lost, "its keeper stopped answering".to_owned());
            let id = run.id;
            let end = EndRun {
                run: id,
                attempt,
                ending,
                result: None,
                after: self.after.clone(),
                jitter: self.jitter.wrapping_add(spread),
                now: self.now,
            };
            ended.push((end.end(tx, task, run).await?, id));
        }
        Ok(ended)
    }
}
