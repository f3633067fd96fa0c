//! Pauses of the queue: what people paused is not started by any runner, until they lift the pause. Running agents go on.
//!
//! They are rows among the pauses of accounts, which every claim reads.

use std::collections::BTreeSet;

use fleet_core::event::EventSubject;
use fleet_core::schedule::{PauseScope, QUEUE_PREFIX};

use super::rows::record;
use crate::ops::prelude::*;

/// A pause that ends only when somebody lifts it.
const FOR_EVER: i64 = i64::MAX;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuePause {
    pub scope: PauseScope,
    pub why: String,
    pub set_at: Millis,
}

/// Pauses the queue, or a part of it. A pause that there is already gets the new reason.
#[derive(Debug, Clone)]
pub struct PauseQueue {
    pub scope: PauseScope,
    pub why: String,
    pub now: Millis,
}

#[async_trait]
impl Op for PauseQueue {
    /// False if just that was paused already.
    type Out = bool;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<bool, StoreError> {
        let again = sql!(
            "UPDATE pauses SET why = $2 WHERE account = $1 RETURNING 1",
            self.scope.to_string(),
            self.why.as_str(),
        );
        if !tx.query(again).await?.is_empty() {
            return Ok(false);
        }
        let insert = sql!(
            "INSERT INTO pauses (account, until, strikes, why, set_at) VALUES ($1, $2, 0, $3, $4) \
             ON CONFLICT (account) DO NOTHING RETURNING 1",
            self.scope.to_string(),
            FOR_EVER,
            self.why.as_str(),
            self.now,
        );
        if tx.query(insert).await?.is_empty() {
            return Ok(false);
        }
        let fact = Fact::QueuePaused { agent: agent(&self.scope), why: self.why.clone() };
        record(tx, self.now, subject(&self.scope), &fact).await?;
        Ok(true)
    }
}

/// Lifts a pause of just this scope.
#[derive(Debug, Clone)]
pub struct ResumeQueue {
    pub scope: PauseScope,
    pub now: Millis,
}

#[async_trait]
impl Op for ResumeQueue {
    /// False if it was not paused.
    type Out = bool;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<bool, StoreError> {
        let lift = sql!("DELETE FROM pauses WHERE account = $1 RETURNING 1", self.scope.to_string());
        if tx.query(lift).await?.is_empty() {
            return Ok(false);
        }
        record(tx, self.now, subject(&self.scope), &Fact::QueueResumed { agent: agent(&self.scope) }).await?;
        Ok(true)
    }
}

/// All pauses of the queue.
#[derive(Debug, Clone, Copy)]
pub struct ListQueuePauses;

#[async_trait]
impl Op for ListQueuePauses {
    type Out = Vec<QueuePause>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<QueuePause>, StoreError> {
        let all = sql!(
            "SELECT account, why, set_at FROM pauses WHERE account LIKE $1 ORDER BY account",
            format!("{QUEUE_PREFIX}%"),
        );
        let pause = |mut row: Row| {
            let scope = row.text()?.parse().map_err(StoreError::Malformed)?;
            Ok(QueuePause { scope, why: row.text()?, set_at: Millis(row.int()?) })
        };
        tx.query_alone(all).await?.into_iter().map(pause).collect()
    }
}

/// The scopes among the names of what is paused, which leaves the accounts there.
pub(super) fn take_scopes(paused: &mut BTreeSet<String>) -> Result<Vec<PauseScope>, StoreError> {
    let (scopes, accounts): (BTreeSet<String>, _) =
        std::mem::take(paused).into_iter().partition(|name| name.starts_with(QUEUE_PREFIX));
    *paused = accounts;
    scopes.iter().map(|name| name.parse().map_err(StoreError::Malformed)).collect()
}

fn agent(scope: &PauseScope) -> Option<String> {
    scope.agent.as_ref().map(ToString::to_string)
}

fn subject(scope: &PauseScope) -> EventSubject {
    EventSubject { project: scope.project, ..EventSubject::default() }
}
