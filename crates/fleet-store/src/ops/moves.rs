//! What people do to a task: hold, release, cancel, retry, delete.

use fleet_core::event::EventSubject;
use fleet_core::run::RunMove;
use fleet_core::task::{Remark, Task, TaskMove, TaskState};
use fleet_core::workflow::PartOf;

use super::branches::refuse_taken;
use super::questions::withdraw_open;
use super::rows::{self, about, lock_task, lock_task_to_move, read_task, record, step, write_move};
use super::runs::row::{self, run_columns};
use crate::ops::prelude::*;
use crate::tx::Lock;

/// Moves a task as a user asked.
#[derive(Debug, Clone)]
pub struct MoveTask {
    pub id: TaskId,
    /// Hold, release, cancel or retry.
    pub event: TaskMove,
    pub remark: Option<Remark>,
    pub now: Millis,
}

#[async_trait]
impl Op for MoveTask {
    type Out = Task;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Task, StoreError> {
        let mut task = lock_task_to_move(tx, self.id).await?;
        let was = task.state();
        step(&mut task, self.event)?;
        let remark = self.remark.as_ref().map(|remark| remark.as_str().to_owned());
        task.history.remark.clone_from(&remark);
        if self.event == TaskMove::Retry {
            task.history.reset_failures();
            refuse_taken(tx, &task).await?;
            // The agent that its author wanted gets another chance, too.
            if task.history.handed_to.take().is_some() {
                rows::write_agent(tx, &task).await?;
            }
        }
        if matches!(self.event, TaskMove::Cancel | TaskMove::Retry) {
            // A person decided without an answer.
            withdraw_open(tx, self.id, self.now).await?;
        }
        let run = if was == TaskState::Running { self.stop_run(tx).await? } else { None };
        let subject = EventSubject { run, ..about(&task) };
        write_move(tx, &task, self.now, (subject, &self.fact(remark)?)).await?;
        read_task(tx, self.id).await
    }
}

impl MoveTask {
    fn fact(&self, remark: Option<String>) -> Result<Fact, StoreError> {
        match self.event {
            TaskMove::Hold => Ok(Fact::TaskHeld { remark }),
            TaskMove::Release => Ok(Fact::TaskReleased {}),
            TaskMove::Cancel => Ok(Fact::TaskCancelled { remark }),
            TaskMove::Retry => Ok(Fact::TaskRetried {}),
            other => Err(StoreError::Failed(format!("{other} is not for people"))),
        }
    }

    /// Ends the run that is at work, and returns it: its keeper learns at its next write that it is to stop.
    async fn stop_run(&self, tx: &mut dyn Tx) -> Result<Option<RunId>, StoreError> {
        let mut stopped = None;
        let live = concat!(
            "SELECT ",
            run_columns!(),
            " FROM runs r WHERE r.task = $1 AND r.ended_at IS NULL {for_update}"
        );
        for mut row in tx.query(sql!(live, self.id)).await? {
            let mut run = row::run(&mut row)?;
            row::step(&mut run, RunMove::Cancel)?;
            let (id, state) = (run.id, run.state.as_str());
            tx.defer(sql!("UPDATE runs SET state = $2, ended_at = $3 WHERE id = $1", id, state, self.now))
                .await?;
            stopped = Some(run.id);
        }
        Ok(stopped)
    }
}

/// Cancels a task without a run. A running one is left alone: only its keeper can end it well.
#[derive(Debug, Clone)]
pub struct CancelIdle {
    pub id: TaskId,
    pub remark: Option<Remark>,
    pub now: Millis,
}

#[async_trait]
impl Op for CancelIdle {
    /// `None` if it runs.
    type Out = Option<Task>;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Option<Task>, StoreError> {
        if lock_task_to_move(tx, self.id).await?.state() == TaskState::Running {
            return Ok(None);
        }
        let cancel =
            MoveTask { id: self.id, event: TaskMove::Cancel, remark: self.remark.clone(), now: self.now };
        cancel.run(tx).await.map(Some)
    }
}

/// Removes a task and what belongs to it for good. Its runs and events stay: they happened.
#[derive(Debug, Clone, Copy)]
pub struct DeleteTask {
    pub id: TaskId,
    pub now: Millis,
}

#[async_trait]
impl Op for DeleteTask {
    type Out = Task;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Task, StoreError> {
        // No new dependency may appear between the look and the removal.
        tx.lock(Lock::Dependencies).await?;
        let task = lock_task(tx, self.id).await?;
        if task.state() == TaskState::Running {
            return Err(StoreError::NotNow { task: self.id, from: task.state(), wish: "be deleted" });
        }
        if let Some(PartOf { workflow, .. }) = task.part {
            return Err(StoreError::PartOfWorkflow { task: self.id, workflow });
        }
        self.erase(tx, &task).await?;
        Ok(task)
    }
}

impl DeleteTask {
    /// Deletes it, if no task waits for it. The caller holds the task, and the lock of dependencies.
    pub(super) async fn erase(&self, tx: &mut dyn Tx, task: &Task) -> Result<(), StoreError> {
        refuse_dependents(tx, self.id).await?;
        rows::erase_texts(tx, self.id).await?;
        tx.defer(sql!("DELETE FROM messages WHERE task = $1", self.id)).await?;
        tx.defer(sql!("DELETE FROM deps WHERE task = $1", self.id)).await?;
        tx.defer(sql!("DELETE FROM deps WHERE on_task = $1", self.id)).await?;
        tx.defer(sql!("DELETE FROM tasks WHERE id = $1", self.id)).await?;
        record(tx, self.now, about(task), &Fact::TaskDeleted { title: task.spec.title.clone() }).await
    }
}

/// Says whether tasks could be deleted now, and changes nothing. For callers that have something else to remove first.
#[derive(Debug, Clone)]
pub struct CheckDelete {
    pub tasks: Vec<TaskId>,
}

#[async_trait]
impl Op for CheckDelete {
    type Out = ();
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<(), StoreError> {
        for id in &self.tasks {
            let state = read_task(tx, *id).await?.state();
            if state == TaskState::Running {
                return Err(StoreError::NotNow { task: *id, from: state, wish: "be deleted" });
            }
            refuse_dependents(tx, *id).await?;
        }
        Ok(())
    }
}

/// A task that others still wait for stays, unless it is done: then nothing changes for them.
async fn refuse_dependents(tx: &mut dyn Tx, task: TaskId) -> Result<(), StoreError> {
    let waiting = sql!(
        "SELECT d.task FROM deps d JOIN tasks o ON o.id = d.on_task \
         WHERE d.on_task = $1 AND o.state <> 'done' ORDER BY d.task",
        task,
    );
    let rows = tx.query(waiting).await?;
    let dependents = rows.into_iter().map(|mut row| row.parse()).collect::<Result<Vec<TaskId>, _>>()?;
    if dependents.is_empty() { Ok(()) } else { Err(StoreError::HasDependents { task, dependents }) }
}
