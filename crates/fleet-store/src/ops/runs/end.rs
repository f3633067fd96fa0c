//! The end of a run, and what it means for its task.

use fleet_core::event::Fact;
use fleet_core::id::{RunId, TaskId};
use fleet_core::policy::{Verdict, after_failure};
use fleet_core::run::{Ending, Reason, Run};
use fleet_core::task::{Task, TaskMove};
use fleet_core::time::Millis;

use super::row::{about_run, lock_both, next_state};
use super::texts::{TextKind, shown, write_text};
use crate::StoreError;
use crate::ops::rows::{record, step, write_state};
use crate::tx::{Mode, Op, Tx, sql};

/// Records how a run ended, and what that means for its task.
#[derive(Debug, Clone)]
pub struct EndRun {
    /// The run.
    pub run: RunId,
    /// Its fencing number.
    pub fence: i64,
    /// How it ended.
    pub ending: Ending,
    /// What was found in the end, as JSON.
    pub result: Option<String>,
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
    pub(in crate::ops) async fn end<T: Tx>(
        &self,
        tx: &mut T,
        mut task: Task,
        run: &Run,
    ) -> Result<Task, StoreError> {
        let state = next_state(run, self.ending.run_move())?;
        let (event, fact) = self.consequence(&mut task);
        step(&mut task, event)?;
        let (reason, detail) = match &self.ending {
            Ending::Failed(reason, detail) => (Some(*reason), Some(shown(detail))),
            Ending::Released(detail) | Ending::Cancelled(detail) => (None, Some(shown(detail))),
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
        if let Some(result) = &self.result {
            write_text(tx, run.id, TextKind::Result, result).await?;
        }
        write_state(tx, &task, self.now).await?;
        if event == TaskMove::Finish {
            release_dependents(tx, task.id, self.now).await?;
        }
        record(tx, self.now, about_run(run), &fact).await?;
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
                let (detail, failures) = (shown(detail), task.history.failures);
                task.history.remark = Some(detail.clone());
                let fact = Fact::TaskRequeued { reason: None, detail, failures, not_before: None };
                (TaskMove::Requeue, fact)
            }
            Ending::Cancelled(why) => {
                task.history.remark = Some(shown(why));
                (TaskMove::Cancel, Fact::TaskCancelled { remark: Some(shown(why)) })
            }
            Ending::Failed(reason, detail) => self.failure(task, *reason, shown(detail)),
        }
    }

    fn failure(&self, task: &mut Task, reason: Reason, detail: String) -> (TaskMove, Fact) {
        let verdict = after_failure(reason, task.history.failures, task.spec.retry, self.jitter);
        task.history.failures += 1;
        task.history.reason = Some(reason);
        task.history.remark = Some(detail.clone());
        let failures = task.history.failures;
        match verdict {
            Verdict::GiveUp => (TaskMove::Fail, Fact::TaskFailed { reason, detail, failures }),
            Verdict::RetryAfter(wait) => {
                let not_before = Some(self.now.plus(wait));
                task.history.retry_at = not_before;
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
