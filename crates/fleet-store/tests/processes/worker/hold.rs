//! A keeper that sits still while others take its task away.

use std::time::Duration;

use fleet_core::run::{Ending, RunMove};
use fleet_store::StoreError;
use fleet_store::ops::{Claimed, RenewLease};

use super::work::{claim_one, end};
use super::{Signal, Worker, now};

pub(super) async fn hold(worker: &mut Worker) -> Result<(), StoreError> {
    let claimed = claim_one(worker).await?;
    worker.advance(&claimed, RunMove::Start).await?;
    worker.notes.write(format_args!("holding {}", claimed.task.id));
    while worker.goes_on() && !worker.told(Signal::Thaw) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    go_on(worker, &claimed).await;
    Ok(())
}

/// Everything that a keeper writes, one after the other, with what the store said to it.
async fn go_on(worker: &mut Worker, claimed: &Claimed) {
    let (run, attempt) = (claimed.run.id, claimed.run.attempt);
    let renew = RenewLease { run, attempt, lease: worker.orders.lease, now: now() };
    let said = worker.call(renew).await.map(drop);
    answer(worker, "renew", said);
    let said = worker.advance(claimed, RunMove::Exit).await;
    answer(worker, "exit", said);
    let said = end(worker, claimed, Ending::Succeeded).await.map(drop);
    answer(worker, "end", said);
}

fn answer(worker: &mut Worker, what: &str, said: Result<(), StoreError>) {
    let said = match said {
        Ok(()) => "yes".to_owned(),
        Err(StoreError::LeaseLost { .. }) => "lost".to_owned(),
        Err(error) => error.to_string(),
    };
    worker.notes.write(format_args!("answer {what} {said}"));
}
