//! The roles that need few words.

use std::fmt::Write as _;
use std::time::Duration;

use fleet_store::ops::{Audit, EventsAfter, ExpireLeases, FailureSettings};
use fleet_store::{StoreError, Watch};

use super::add::add_batch;
use super::work::{attempt, claim};
use super::{Worker, now};

pub(super) async fn expire(worker: &mut Worker) -> Result<(), StoreError> {
    while worker.goes_on() {
        let jitter = worker.dice.roll();
        for (task, _) in worker
            .call(ExpireLeases {
                elsewhere: None,
                limit: 20,
                after: FailureSettings::default(),
                jitter,
                now: now(),
            })
            .await?
        {
            worker.notes.write(format_args!("expired {} {}", task.id, task.history.attempts));
        }
        let pause = 20 + worker.dice.below(40);
        tokio::time::sleep(Duration::from_millis(u64::try_from(pause).unwrap())).await;
    }
    Ok(())
}

/// Notes every event; once told to stop, reads what is there and ends.
pub(super) async fn tail(worker: &mut Worker, mut since: i64) -> Result<(), StoreError> {
    let watch = worker.watch().await?;
    worker.notes.write(format_args!("since {since}"));
    loop {
        let last_look = !worker.goes_on();
        let page = worker.call(EventsAfter { since, project: None, limit: 200 }).await?;
        let mut lines = String::new();
        for event in &page {
            writeln!(lines, "saw {} {}", event.seq, event.fact.kind()).unwrap();
            since = event.seq;
        }
        worker.notes.write_all(&lines);
        if page.is_empty() {
            if last_look {
                return Ok(());
            }
            watch.changed(Duration::from_millis(500)).await;
        }
    }
}

/// Keeps the store busy, with a queue that stays short.
pub(super) async fn churn(worker: &mut Worker) -> Result<(), StoreError> {
    while worker.goes_on() {
        add_batch(worker, 2, &mut Vec::new()).await?;
        let lease = worker.orders.lease;
        for claimed in claim(worker, lease, 3).await? {
            attempt(worker, &claimed).await?;
        }
    }
    Ok(())
}

/// Has a store, and nothing to do with it.
pub(super) async fn sit(worker: &mut Worker) -> Result<(), StoreError> {
    worker.call(EventsAfter { since: 0, project: None, limit: 1 }).await?;
    worker.notes.write(format_args!("sitting"));
    while worker.goes_on() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// Long reads without a pause between them.
pub(super) async fn read(worker: &mut Worker) -> Result<(), StoreError> {
    while worker.goes_on() {
        worker.call(Audit).await?;
        let tail = EventsAfter { since: 0, project: None, limit: 500 };
        worker.call(tail).await?;
        worker.notes.write(format_args!("read"));
    }
    Ok(())
}

impl Worker {
    pub(super) async fn watch(&mut self) -> Result<Watch, StoreError> {
        loop {
            match self.store.watch().await {
                Err(StoreError::Unreachable { .. }) if self.waits_out(self.born) => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                watch => return watch,
            }
        }
    }
}
