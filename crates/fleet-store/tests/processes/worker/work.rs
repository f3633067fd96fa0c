//! Claiming tasks and bringing them to an end.

use std::collections::BTreeMap;
use std::time::Duration;

use fleet_core::event::{AgentEvent, Fact};
use fleet_core::run::{Ending, Reason, RunMove, Totals};
use fleet_core::schedule::Caps;
use fleet_core::task::{Status, TaskMove, TaskState};
use fleet_store::StoreError;
use fleet_store::ops::{
    AdvanceRun, AppendRunEvents, Claim, ClaimOnly, Claimed, EndRun, FailureSettings, ListTasks, MoveTask,
    RenewLease, StatusFilter, TaskFilter,
};

use super::{Signal, Worker, now};

/// Somebody who waits looks by themselves after this, whether the bell rang or not.
const LOOK_ANYWAY: Duration = Duration::from_millis(200);

/// The lease of tasks that are claimed and forgotten.
const CARELESS: Duration = Duration::from_millis(100);

pub(super) async fn work(worker: &mut Worker) -> Result<(), StoreError> {
    let watch = worker.watch().await?;
    while worker.goes_on() {
        let careless = worker.dice.once_in(20);
        let lease = if careless { CARELESS } else { worker.orders.lease };
        let slots = 1 + worker.dice.below(3);
        let claimed = claim(worker, lease, slots).await?;
        if claimed.is_empty() {
            if worker.told(Signal::AllAdded) && nothing_is_left(worker).await? {
                return Ok(());
            }
            watch.changed(LOOK_ANYWAY).await;
        }
        for claimed in claimed.into_iter().filter(|_| !careless) {
            attempt(worker, &claimed).await?;
        }
    }
    Ok(())
}

/// One task from beginning to end, without a pause.
pub(super) async fn once(worker: &mut Worker) -> Result<(), StoreError> {
    let claimed = claim_one(worker).await?;
    worker.advance(&claimed, RunMove::Start).await?;
    worker.advance(&claimed, RunMove::Exit).await?;
    end(worker, &claimed, Ending::Succeeded).await.map(drop)
}

/// Waits for a task; its time may not have come yet.
pub(super) async fn claim_one(worker: &mut Worker) -> Result<Claimed, StoreError> {
    let lease = worker.orders.lease;
    loop {
        assert!(worker.goes_on(), "told to stop without a task");
        if let Some(claimed) = claim(worker, lease, 1).await?.pop() {
            return Ok(claimed);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// So many tasks, if there are any.
pub(super) async fn claim(
    worker: &mut Worker,
    lease: Duration,
    slots: usize,
) -> Result<Vec<Claimed>, StoreError> {
    let claim = Claim {
        runner: worker.orders.name.clone(),
        place: "here".to_owned(),
        runs: (0..slots).map(|_| worker.id()).collect(),
        only: ClaimOnly::Any,
        default_agent: "scripted".parse().unwrap(),
        able: None,
        projects: None,
        accounts: BTreeMap::new(),
        caps: Caps::default(),
        budget: None,
        lease,
        now: now(),
    };
    // Not tried again as it is: the ids may be taken by an attempt whose answer was lost. Its tasks come back
    // when their leases end.
    let claimed = match worker.store.call(claim).await {
        Err(StoreError::Unreachable { why, .. }) if worker.orders.patient => {
            worker.notes.write(format_args!("unreachable {why}"));
            Vec::new()
        }
        claimed => claimed?,
    };
    for Claimed { task, run } in &claimed {
        worker.notes.write(format_args!("claimed {} {}", task.id, run.attempt));
    }
    Ok(claimed)
}

/// Takes up again what was given up: bad luck has no bound, the number of retries has.
async fn nothing_is_left(worker: &mut Worker) -> Result<bool, StoreError> {
    let unfinished = [TaskState::Failed, TaskState::Running, TaskState::Queued].map(Status::In);
    let list = ListTasks {
        statuses: StatusFilter(unfinished.to_vec()),
        filter: TaskFilter::default(),
        limit: 1,
        now: now(),
    };
    let left = worker.call(list).await?.tasks;
    for task in left.iter().filter(|task| task.state() == TaskState::Failed) {
        match worker.call(MoveTask { id: task.id, event: TaskMove::Retry, remark: None, now: now() }).await {
            // Somebody else did it first.
            Ok(_) | Err(StoreError::Illegal { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(left.is_empty())
}

/// Does what a keeper does; a lost lease ends the attempt, and is no error.
pub(super) async fn attempt(worker: &mut Worker, claimed: &Claimed) -> Result<(), StoreError> {
    let (task, attempt) = (claimed.task.id, claimed.run.attempt);
    match keep(worker, claimed).await {
        Ok(word) => worker.notes.write(format_args!("ended {task} {attempt} {word}")),
        Err(StoreError::LeaseLost { .. }) => worker.notes.write(format_args!("lost {task} {attempt}")),
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Start, renew, exit, end; returns a word for the end.
async fn keep(worker: &mut Worker, claimed: &Claimed) -> Result<&'static str, StoreError> {
    let (run, attempt) = (claimed.run.id, claimed.run.attempt);
    if worker.dice.once_in(12) {
        return end(worker, claimed, Ending::Released("hand-over".to_owned())).await;
    }
    worker.advance(claimed, RunMove::Start).await?;
    say(worker, claimed).await?;
    worker.call(RenewLease { run, attempt, lease: worker.orders.lease, now: now() }).await?;
    if worker.dice.once_in(10) {
        return end(worker, claimed, Ending::Failed(Reason::AgentError, "by chance".to_owned())).await;
    }
    worker.advance(claimed, RunMove::Exit).await?;
    end(worker, claimed, Ending::Succeeded).await
}

/// Says one number after the other, several in a stretch. Some stretches are read twice, as after a crash.
async fn say(worker: &mut Worker, claimed: &Claimed) -> Result<(), StoreError> {
    let mut from = 0;
    for _ in 0..worker.dice.below(3) {
        let to = from + 1 + i64::try_from(worker.dice.below(4)).unwrap();
        let facts = (from..to)
            .map(|number| (now(), Fact::Agent(AgentEvent::Text { text: number.to_string() })))
            .collect();
        let stretch = AppendRunEvents {
            run: claimed.run.id,
            attempt: claimed.run.attempt,
            from,
            to,
            batch: to,
            facts,
            usage: Some(used(to)),
            activity: None,
            session: None,
            now: now(),
            meter: None,
        };
        worker.call(stretch.clone()).await?;
        if worker.dice.once_in(4) {
            assert!(!worker.call(stretch).await?, "a stretch was stored twice");
        }
        from = to;
    }
    Ok(())
}

/// What a run has used that has said so many numbers.
pub(crate) fn used(said: i64) -> Totals {
    let said = u64::try_from(said).unwrap();
    Totals { input_tokens: said * 3, output_tokens: said, micro_usd: said * 7 }
}

pub(super) async fn end(
    worker: &mut Worker,
    claimed: &Claimed,
    ending: Ending,
) -> Result<&'static str, StoreError> {
    let word = match ending {
        Ending::Succeeded => "done",
        _ => "again",
    };
    let (run, attempt, jitter) = (claimed.run.id, claimed.run.attempt, worker.dice.roll());
    worker
        .call(EndRun {
            run,
            attempt,
            ending,
            result: None,
            after: FailureSettings::default(),
            jitter,
            now: now(),
        })
        .await
        .map(|_| word)
}

impl Worker {
    pub(super) async fn advance(&mut self, claimed: &Claimed, event: RunMove) -> Result<(), StoreError> {
        let (run, attempt) = (claimed.run.id, claimed.run.attempt);
        match self.call(AdvanceRun { run, attempt, event, now: now() }).await {
            // An attempt whose answer was lost in an interruption had worked after all.
            Err(StoreError::IllegalRun { .. }) if self.orders.patient => Ok(()),
            result => result.map(drop),
        }
    }
}
