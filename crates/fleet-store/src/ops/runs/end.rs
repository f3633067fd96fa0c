//! The end of a run, and what it means for its task.

use async_trait::async_trait;
use fleet_core::event::Fact;
use fleet_core::id::{RunId, TaskId};
use fleet_core::run::{Ending, Reason, Run, RunState};
use fleet_core::task::{Task, TaskMove};
use fleet_core::time::Millis;
use serde::{Deserialize, Serialize};

use super::failure::{After, Consequence};
use super::row::{about_run, lock_run, lock_to_end, next_state};
use super::texts::{TextKind, shown, write_text};
use crate::StoreError;
use crate::ops::messages::said_meanwhile;
use crate::ops::pauses;
use crate::ops::rows::{read_task, step, write_move};
use crate::tx::{Mode, Op, Tx, sql};

/// Records how a run ended, and what that means for its task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EndRun {
    /// The run.
    pub run: RunId,
    /// Its fencing number.
    pub fence: i64,
    /// How it ended.
    pub ending: Ending,
    /// What was found in the end, as JSON.
    pub result: Option<String>,
    /// What follows if it failed.
    pub after: After,
    /// Any random number: spreads retries.
    pub jitter: u64,
    /// Now.
    pub now: Millis,
}

#[async_trait]
impl Op for EndRun {
    type Out = Task;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Task, StoreError> {
        match lock_to_end(tx, self.run, self.fence).await {
            Ok((task, run)) => self.end(tx, task, &run).await,
            Err(StoreError::LeaseLost { .. }) => self.ended_before(tx).await,
            Err(error) => Err(error),
        }
    }
}

impl EndRun {
    /// The task, if it was this operation that ended the run: whoever did not hear the answer asks once more.
    pub(super) async fn ended_before(&self, tx: &mut dyn Tx) -> Result<Task, StoreError> {
        let run = lock_run(tx, self.run).await?;
        let state = RunState::Finishing.next(self.ending.run_move()).ok();
        let written = (run.fence, Some(run.state), run.reason, &run.detail, run.ended_at);
        if written != (self.fence, state, self.ending.reason(), &self.detail(), Some(self.now)) {
            return Err(StoreError::LeaseLost { run: self.run });
        }
        read_task(tx, run.task).await
    }

    /// What people are told of its end, if there is anything to tell.
    fn detail(&self) -> Option<String> {
        match &self.ending {
            Ending::Failed(_, detail) | Ending::Released(detail) | Ending::Cancelled(detail) => {
                Some(shown(detail))
            }
            Ending::Succeeded | Ending::Asked => None,
        }
    }

    pub(in crate::ops) async fn end(
        &self,
        tx: &mut dyn Tx,
        mut task: Task,
        run: &Run,
    ) -> Result<Task, StoreError> {
        let state = next_state(run, self.ending.run_move())?;
        let consequence = match &self.ending {
            Ending::Failed(reason, detail) => {
                self.failed(tx, &mut task, run, (*reason, shown(detail))).await?
            }
            Ending::Succeeded if said_meanwhile(tx, run, self.now).await? => goes_on(&mut task),
            _ => self.ended(&mut task),
        };
        let Consequence { event, fact } = match &run.stop {
            Some(stop) if stop.overrides(consequence.event) => cancelled(&mut task, &stop.why),
            _ => consequence,
        };
        step(&mut task, event)?;
        let close = sql!(
            "UPDATE runs SET state = $2, reason = $3, detail = $4, ended_at = $5 WHERE id = $1",
            run.id,
            state.as_str(),
            self.ending.reason().map(Reason::as_str),
            self.detail(),
            self.now,
        );
        tx.defer(close).await?;
        if let Some(result) = &self.result {
            write_text(tx, run.id, TextKind::Result, result).await?;
        }
        if event == TaskMove::Finish {
            release_dependents(tx, task.id, self.now).await?;
        }
        write_move(tx, &task, self.now, (about_run(run), &fact)).await?;
        if matches!(self.ending, Ending::Succeeded | Ending::Asked) {
            pauses::served(tx, run, self.now).await?;
        }
        Ok(task)
    }

    /// What happens to the task of a run that did not fail; updates its history.
    fn ended(&self, task: &mut Task) -> Consequence {
        match &self.ending {
            Ending::Asked => Consequence { event: TaskMove::Ask, fact: Fact::TaskWaiting {} },
            Ending::Released(detail) => {
                let (detail, failures) = (shown(detail), task.history.failures);
                task.history.remark = Some(detail.clone());
                let fact = Fact::TaskRequeued { reason: None, detail, failures, not_before: None };
                Consequence { event: TaskMove::Requeue, fact }
            }
            Ending::Cancelled(why) => cancelled(task, why),
            Ending::Succeeded | Ending::Failed(..) => {
                task.history.reason = None;
                Consequence { event: TaskMove::Finish, fact: Fact::TaskDone {} }
            }
        }
    }
}

/// A task that nobody wants any more.
fn cancelled(task: &mut Task, why: &str) -> Consequence {
    task.history.remark = Some(shown(why));
    task.history.retry_at = None;
    Consequence { event: TaskMove::Cancel, fact: Fact::TaskCancelled { remark: Some(shown(why)) } }
}

/// A task that would be done, had nobody said more while its run came to its end: the next run is told.
fn goes_on(task: &mut Task) -> Consequence {
    let (detail, failures) = ("somebody had more to say".to_owned(), task.history.failures);
    task.history.remark = Some(detail.clone());
    task.history.reason = None;
    let fact = Fact::TaskRequeued { reason: None, detail, failures, not_before: None };
    Consequence { event: TaskMove::Requeue, fact }
}

/// Tasks whose last dependency this was become ready with this transaction. Locked in one order: two tasks that
/// finish at once may have the same dependents, and would wait for each other.
async fn release_dependents(tx: &mut dyn Tx, done: TaskId, now: Millis) -> Result<(), StoreError> {
    let release = sql!(
        "UPDATE tasks SET open_deps = open_deps - 1, version = version + 1, updated_at = $2 \
         WHERE id IN (SELECT t.id FROM tasks t WHERE t.id IN (SELECT task FROM deps WHERE on_task = $1) \
           ORDER BY t.id {for_update})",
        done,
        now,
    );
    tx.defer(release).await
}
