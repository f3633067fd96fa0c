//! From headless to a terminal, and back.

use fleet_core::run::{Run, StopKind, StopRequest};
use fleet_core::task::{Task, TaskMode, TaskMove, TaskState};

use super::messages::{live_run, reopen};
use super::moves::MoveTask;
use super::questions::withdraw_open;
use super::rows::{about, lock_task_to_move, read_task, record};
use super::runs::stop::order_stop;
use super::tasks::EditTask;
use crate::ops::prelude::*;

/// Lets a task continue in a terminal, or without one. A run in the other mode is given back to the queue, as is one that
/// is being stopped for an earlier switch; a task that is over, held or waits for an answer is queued again.
#[derive(Debug, Clone)]
pub struct SwitchMode {
    pub id: TaskId,
    pub mode: TaskMode,
    /// Why its run is stopped, for people.
    pub why: String,
    pub now: Millis,
}

/// What was done.
#[derive(Debug, Clone)]
pub struct SwitchedMode {
    /// As it is now.
    pub task: Task,
    /// The run that stops.
    pub stopped: Option<Run>,
    /// Whether it runs, or will, in that mode already.
    pub unchanged: bool,
}

#[async_trait]
impl Op for SwitchMode {
    type Out = SwitchedMode;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<SwitchedMode, StoreError> {
        let task = lock_task_to_move(tx, self.id).await?;
        let (was, now) = (task.state(), self.now);
        let stopped = live_run(tx, &task).await?.filter(|run| run.mode != self.mode);
        let is_pending = matches!(was, TaskState::Queued | TaskState::Running);
        let unchanged = is_pending && stopped.is_none() && task.spec.mode == self.mode;
        let mut task = match was {
            TaskState::Queued | TaskState::Running => task,
            TaskState::Held => {
                MoveTask { id: self.id, event: TaskMove::Retry, remark: None, now }.run(tx).await?
            }
            _ => {
                withdraw_open(tx, self.id, now).await?;
                reopen(tx, task, now).await?
            }
        };
        if task.spec.mode != self.mode {
            task.spec.mode = self.mode;
            EditTask::write(tx, &task, now).await?;
            let fields = vec!["mode".to_owned()];
            record(tx, now, about(&task), &Fact::TaskEdited { fields }).await?;
        }
        if let Some(run) = &stopped {
            let stop = StopRequest { kind: StopKind::Switch, why: self.why.clone() };
            order_stop(tx, run, &stop, now).await?;
        }
        Ok(SwitchedMode { task: read_task(tx, self.id).await?, stopped, unchanged })
    }
}
