//! What the holder of a lease does with its run. Every write names the fencing number: a keeper that froze and
//! came back after its task was given to another finds its run ended, and changes nothing.

use std::time::Duration;

use fleet_core::event::{Fact, Subject};
use fleet_core::id::{RunId, TaskId};
use fleet_core::policy::{Verdict, after_failure};
use fleet_core::run::{Ending, Reason, Run, RunMove, RunState};
use fleet_core::task::{Task, TaskMove};
use fleet_core::time::Millis;

use super::rows::{self, lock_task, record, run_columns, step, write_state};
use crate::StoreError;
use crate::tx::{Mode, Op, Tx, sql};

/// Makes a lease longer.
#[derive(Debug, Clone, Copy)]
pub struct RenewLease {
    /// The run.
    pub run: RunId,
    /// Its fencing number.
    pub fence: i64,
    /// Until now plus this.
    pub lease: Duration,
    /// Now.
    pub now: Millis,
}

impl Op for RenewLease {
    type Out = ();
    const MODE: Mode = Mode::Write;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<(), StoreError> {
        let renew = sql!(
            "UPDATE runs SET lease_until = $3 WHERE id = $1 AND fence = $2 AND ended_at IS NULL RETURNING 1",
            self.run,
            self.fence,
            self.now.plus(self.lease),
        );
        if tx.query_alone(renew).await?.is_empty() {
            Err(StoreError::LeaseLost { run: self.run })
        } else {
            Ok(())
        }
    }
}

/// Moves a run on: its agent was started, or ended.
#[derive(Debug, Clone, Copy)]
pub struct AdvanceRun {
    /// The run.
    pub run: RunId,
    /// Its fencing number.
    pub fence: i64,
    /// Start or exit.
    pub event: RunMove,
    /// Now.
    pub now: Millis,
}

impl Op for AdvanceRun {
    type Out = RunState;
    const MODE: Mode = Mode::Write;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<RunState, StoreError> {
        let run = lock_live_run(tx, self.run, self.fence).await?;
        let state = next_state(&run, self.event)?;
        if !state.is_live() {
            // An end has consequences for the task, which only EndRun knows.
            return Err(illegal(&run, self.event));
        }
        tx.defer(sql!("UPDATE runs SET state = $2 WHERE id = $1", self.run, state.as_str())).await?;
        let project = tx.query_one(sql!("SELECT project FROM runs WHERE id = $1", self.run)).await?;
        let project = project.map(|mut row| row.parse()).transpose()?;
        let subject = Subject { project, task: Some(run.task), run: Some(run.id) };
        record(tx, self.now, subject, &Fact::RunMoved { state }).await?;
        Ok(state)
    }
}

fn next_state(run: &Run, event: RunMove) -> Result<RunState, StoreError> {
    run.state.next(event).map_err(|_| illegal(run, event))
}

fn illegal(run: &Run, event: RunMove) -> StoreError {
    StoreError::IllegalRun { run: run.id, from: run.state, event }
}

/// The run, locked, if this fencing number still holds it.
async fn lock_live_run<T: Tx>(tx: &mut T, id: RunId, fence: i64) -> Result<Run, StoreError> {
    let find = sql!(concat!("SELECT ", run_columns!(), " FROM runs r WHERE r.id = $1 {for_update}"), id);
    let row = tx.query_one(find).await?;
    let run = row.map_or_else(|| Err(StoreError::RunNotFound(id.to_string())), rows::run)?;
    if run.fence != fence || !run.state.is_live() {
        return Err(StoreError::LeaseLost { run: id });
    }
    Ok(run)
}

/// The run with its task. Task before run, as everywhere: two who lock both never wait for each other.
async fn lock_both<T: Tx>(
    tx: &mut T,
    task: TaskId,
    run: RunId,
    fence: i64,
) -> Result<(Task, Run), StoreError> {
    let task = match lock_task(tx, task).await {
        // Only a task that nobody works on is ever deleted, so the run ended before that.
        Err(StoreError::TaskNotFound(_)) => return Err(StoreError::LeaseLost { run }),
        task => task?,
    };
    Ok((task, lock_live_run(tx, run, fence).await?))
}

/// Records how a run ended, and what that means for its task.
#[derive(Debug, Clone)]
pub struct EndRun {
    /// The run.
    pub run: RunId,
    /// Its fencing number.
    pub fence: i64,
    /// How it ended.
    pub ending: Ending,
    /// Any random number: spreads retries.
    pub jitter: u64,
    /// Now.
    pub now: Millis,
}

impl Op for EndRun {
    type Out = Task;
    const MODE: Mode = Mode::Write;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Task, StoreError> {
        let task = tx.query_one(sql!("SELECT task FROM runs WHERE id = $1", self.run)).await?;
        let mut task = task.ok_or_else(|| StoreError::RunNotFound(self.run.to_string()))?;
        let (task, run) = lock_both(tx, task.parse()?, self.run, self.fence).await?;
        self.end(tx, task, &run).await
    }
}

impl EndRun {
    async fn end<T: Tx>(&self, tx: &mut T, mut task: Task, run: &Run) -> Result<Task, StoreError> {
        let state = next_state(run, self.ending.run_move())?;
        let (event, fact) = self.consequence(&mut task);
        step(&mut task, event)?;
        let (reason, detail) = match &self.ending {
            Ending::Failed(reason, detail) => (Some(*reason), Some(detail.as_str())),
            Ending::Released(detail) | Ending::Cancelled(detail) => (None, Some(detail.as_str())),
            Ending::Succeeded | Ending::Asked => (None, None),
        };
        let close = sql!(
            "UPDATE runs SET state = $2, reason = $3, detail = $4, ended_at = $5 WHERE id = $1",
            run.id,
            state.as_str(),
            reason.map(Reason::as_str),
            detail,
            self.now,
        );
        tx.defer(close).await?;
        write_state(tx, &task, self.now).await?;
        if event == TaskMove::Finish {
            release_dependents(tx, task.id, self.now).await?;
        }
        let subject = Subject { project: Some(task.project), task: Some(task.id), run: Some(run.id) };
        record(tx, self.now, subject, &fact).await?;
        Ok(task)
    }

    /// What happens to the task; updates its history.
    fn consequence(&self, task: &mut Task) -> (TaskMove, Fact) {
        match &self.ending {
            Ending::Succeeded => {
                task.history.reason = None;
                (TaskMove::Finish, Fact::TaskDone {})
            }
            Ending::Asked => (TaskMove::Ask, Fact::TaskWaiting {}),
            Ending::Released(detail) => {
                task.history.remark = Some(detail.clone());
                let failures = task.history.failures;
                (
                    TaskMove::Requeue,
                    Fact::TaskRequeued { reason: None, detail: detail.clone(), failures, not_before: None },
                )
            }
            Ending::Cancelled(detail) => {
                task.history.remark = Some(detail.clone());
                (TaskMove::Cancel, Fact::TaskCancelled { remark: Some(detail.clone()) })
            }
            Ending::Failed(reason, detail) => self.failure(task, *reason, detail),
        }
    }

    fn failure(&self, task: &mut Task, reason: Reason, detail: &str) -> (TaskMove, Fact) {
        let verdict = after_failure(reason, task.history.failures, task.spec.retry, self.jitter);
        task.history.failures += 1;
        task.history.reason = Some(reason);
        task.history.remark = Some(detail.to_owned());
        let (detail, failures) = (detail.to_owned(), task.history.failures);
        match verdict {
            Verdict::GiveUp => (TaskMove::Fail, Fact::TaskFailed { reason, detail, failures }),
            Verdict::RetryAfter(wait) => {
                let not_before = Some(self.now.plus(wait));
                task.spec.not_before = not_before;
                (TaskMove::Requeue, Fact::TaskRequeued { reason: Some(reason), detail, failures, not_before })
            }
        }
    }
}

/// Tasks whose last dependency this was become ready with this transaction. Locked in one order: two tasks that
/// finish at once may have the same dependents, and would wait for each other.
async fn release_dependents<T: Tx>(tx: &mut T, done: TaskId, now: Millis) -> Result<(), StoreError> {
    let release = sql!(
        "UPDATE tasks SET open_deps = open_deps - 1, version = version + 1, updated_at = $2 \
         WHERE id IN (SELECT t.id FROM tasks t WHERE t.id IN (SELECT task FROM deps WHERE on_task = $1) \
           ORDER BY t.id {for_update})",
        done,
        now,
    );
    tx.defer(release).await
}

/// Tasks that were lost together are not tried again together: the odd distance spreads them over any wait.
const SPREAD: usize = 1_597;

/// Ends the runs whose keepers stopped renewing; returns them. Their tasks are tried again by policy.
#[derive(Debug, Clone, Copy)]
pub struct ExpireLeases {
    /// So many at once.
    pub limit: i64,
    /// Any random number: spreads retries.
    pub jitter: u64,
    /// Now.
    pub now: Millis,
}

impl Op for ExpireLeases {
    type Out = Vec<(Task, RunId)>;
    const MODE: Mode = Mode::Write;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Self::Out, StoreError> {
        // A task that somebody holds is about to change anyway. Waiting for it would line up all who expire
        // leases, each with a handful of tasks in its hands that others then wait for.
        let expired = sql!(
            "SELECT r.task, r.id, r.fence FROM runs r JOIN tasks t ON t.id = r.task \
             WHERE r.ended_at IS NULL AND r.lease_until < $1 ORDER BY r.task LIMIT $2 {skip_locked t}",
            self.now,
            self.limit,
        );
        let mut ended = Vec::new();
        for (mut row, spread) in tx.query(expired).await?.into_iter().zip((0..).step_by(SPREAD)) {
            let (task, run, fence) = (row.parse()?, row.parse()?, row.int()?);
            // Somebody may have been quicker between the look and the lock; a renewal counts, too.
            let (task, run) = match lock_both(tx, task, run, fence).await {
                Ok((task, run)) if run.lease_until < self.now => (task, run),
                Ok(_) | Err(StoreError::LeaseLost { .. }) => continue,
                Err(error) => return Err(error),
            };
            let ending = Ending::Failed(Reason::Lost, "its keeper stopped answering".to_owned());
            let end = EndRun {
                run: run.id,
                fence,
                ending,
                jitter: self.jitter.wrapping_add(spread),
                now: self.now,
            };
            ended.push((end.end(tx, task, &run).await?, run.id));
        }
        Ok(ended)
    }
}
