//! The end of a run, and what it means for its task.

use fleet_core::Machine as _;
use fleet_core::message::waits_instead;
use fleet_core::outcome::RunResult;
use fleet_core::run::{Ending, Reason, Run, RunState};
use fleet_core::task::{Task, TaskMove};
use serde::{Deserialize, Serialize};

use super::failure::{Consequence, FailureSettings, released};
use super::row::{self, about_run, lock_run, lock_to_end};
use super::texts::{RunTextKind, shown, write_text};
use crate::ops::messages::has_new_messages;
use crate::ops::pauses;
use crate::ops::prelude::*;
use crate::ops::questions::{has_unseen_answer, note_ending_question, open_of, withdraw_open};
use crate::ops::rows::{read_task, step, write_move};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EndRun {
    pub run: RunId,
    pub attempt: i64,
    pub ending: Ending,
    /// The outcome, as JSON.
    pub result: Option<String>,
    /// What follows a failure.
    pub after: FailureSettings,
    /// Any random number: spreads retries.
    pub jitter: u64,
    pub now: Millis,
}

#[async_trait]
impl Op for EndRun {
    type Out = Task;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Task, StoreError> {
        match lock_to_end(tx, self.run, self.attempt).await {
            Ok((task, run)) => self.end(tx, task, run).await,
            Err(StoreError::LeaseLost { .. }) => self.ended_before(tx).await,
            Err(error) => Err(error),
        }
    }
}

impl EndRun {
    /// The task, if this very operation ended the run before: a caller that missed the answer asks again.
    pub(super) async fn ended_before(&self, tx: &mut dyn Tx) -> Result<Task, StoreError> {
        let run = lock_run(tx, self.run).await?;
        let state = RunState::Finishing.next(self.ending.run_move()).ok();
        let written = (run.attempt, Some(run.state()), run.reason, &run.detail, run.ended_at);
        if written != (self.attempt, state, self.ending.reason(), &self.detail(), Some(self.now)) {
            return Err(StoreError::LeaseLost { run: self.run });
        }
        read_task(tx, run.task).await
    }

    /// The text about its end for people, if there is one.
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
        mut run: Run,
    ) -> Result<Task, StoreError> {
        row::step(&mut run, self.ending.run_move())?;
        let run = &run;
        let consequence = match &self.ending {
            Ending::Failed(reason, detail) => {
                self.failed(tx, &mut task, run, (*reason, shown(detail))).await?
            }
            Ending::Succeeded if has_new_messages(tx, run, self.now).await? => goes_on(&mut task),
            Ending::Asked => self.asked(tx, &mut task, run).await?,
            _ => self.ended(&mut task, run),
        };
        let consequence = match &run.stop {
            Some(stop) if stop.overrides(consequence.event) => cancelled(&mut task, &stop.why),
            _ => consequence,
        };
        let Consequence { event, fact } = self.unless_asked(tx, &task, consequence).await?;
        step(&mut task, event)?;
        let close = sql!(
            "UPDATE runs SET state = $2, reason = $3, detail = $4, ended_at = $5, agent_state = NULL WHERE id = $1",
            run.id,
            run.state.as_str(),
            self.ending.reason().map(Reason::as_str),
            self.detail(),
            self.now,
        );
        tx.defer(close).await?;
        if let Some(result) = &self.result {
            write_text(tx, run.id, RunTextKind::Result, result).await?;
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

    /// The task waits for a person, unless the answer came while the run was ending.
    async fn asked(&self, tx: &mut dyn Tx, task: &mut Task, run: &Run) -> Result<Consequence, StoreError> {
        if open_of(tx, task.id).await?.is_empty() {
            if has_unseen_answer(tx, run).await? {
                return Ok(goes_on(task));
            }
            let result = self.result.as_deref().and_then(|text| serde_json::from_str::<RunResult>(text).ok());
            let text = result.map(|result| result.summary).unwrap_or_default();
            note_ending_question(tx, (task, run), &text, self.now).await?;
        }
        Ok(Consequence { event: TaskMove::Ask, fact: Fact::TaskWaiting {} })
    }

    /// A question that was asked in place goes on as parked when its run is gone. It is moot when its task is settled.
    async fn unless_asked(
        &self,
        tx: &mut dyn Tx,
        task: &Task,
        consequence: Consequence,
    ) -> Result<Consequence, StoreError> {
        if consequence.event == TaskMove::Ask {
            return Ok(consequence);
        }
        if open_of(tx, task.id).await?.is_empty() {
            return Ok(consequence);
        }
        if waits_instead(consequence.event, self.ending.reason()) {
            return Ok(Consequence { event: TaskMove::Ask, fact: Fact::TaskWaiting {} });
        }
        withdraw_open(tx, task.id, self.now).await?;
        Ok(consequence)
    }

    /// What happens to the task of a run that did not fail; updates its history.
    fn ended(&self, task: &mut Task, run: &Run) -> Consequence {
        match &self.ending {
            Ending::Released(detail) => released(task, run, shown(detail)),
            Ending::Cancelled(why) => cancelled(task, why),
            Ending::Succeeded | Ending::Asked | Ending::Failed(..) => {
                task.history.reason = None;
                Consequence { event: TaskMove::Finish, fact: Fact::TaskDone {} }
            }
        }
    }
}

/// Cancels the task.
fn cancelled(task: &mut Task, why: &str) -> Consequence {
    task.history.remark = Some(shown(why));
    task.history.retry_at = None;
    Consequence { event: TaskMove::Cancel, fact: Fact::TaskCancelled { remark: Some(shown(why)) } }
}

/// The task would be done, but a message came while its run was ending: the next run gets it.
fn goes_on(task: &mut Task) -> Consequence {
    let (detail, failures) = ("follow-up message received".to_owned(), task.history.failures);
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
