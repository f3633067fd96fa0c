//! Prompts that follow a task: kept until an agent has them, and passed on in their order.
//!
//! A run takes what waits, passes it on, and says so. What it took and did not pass on is given to the next run, so that a
//! keeper that dies in between loses nothing; an agent may then be told the same twice, but never too little.

use fleet_core::event::{Fact, Subject};
use fleet_core::id::{RunId, TaskId};
use fleet_core::prompt::{Prompt, Reception, receive};
use fleet_core::run::Run;
use fleet_core::task::{PromptText, Task, TaskMove, TaskState};
use fleet_core::time::Millis;

use super::branches::refuse_taken;
use super::rows::{about, lock_task_to_move, read_task, record, step, write_move};
use super::runs::row::{about_run, lock_live_run, run, run_columns};
use super::runs::texts::{bounded, shown};
use crate::StoreError;
use crate::tx::{Mode, Op, Tx, sql};
use crate::value::Row;

/// The columns that [`prompt`] reads, in its order.
macro_rules! prompt_columns {
    () => {
        "task, seq, text, author, at, taken_by, sent_at"
    };
}

fn prompt(mut row: Row) -> Result<Prompt, StoreError> {
    Ok(Prompt {
        task: row.parse()?,
        seq: row.int()?,
        text: row.parse()?,
        by: row.text()?,
        at: Millis(row.int()?),
        taken_by: row.optional_parse()?,
        sent_at: row.optional_int()?.map(Millis),
    })
}

/// Says something to the agent of a task. A task that was over is queued again for it.
#[derive(Debug, Clone)]
pub struct AddPrompt {
    /// The task.
    pub task: TaskId,
    /// What is said.
    pub text: PromptText,
    /// Who says it.
    pub by: String,
    /// Now.
    pub now: Millis,
}

/// A prompt that is kept now, and where it goes.
#[derive(Debug, Clone)]
pub struct Prompted {
    /// The prompt.
    pub prompt: Prompt,
    /// Its task, as it is now.
    pub task: Task,
    /// The run that is at work on the task.
    pub run: Option<Run>,
    /// Where the prompt goes.
    pub reception: Reception,
}

/// Names of users and ids of runs are shorter.
const LONGEST_NAME: usize = 100;

impl Op for AddPrompt {
    type Out = Prompted;
    const MODE: Mode = Mode::Write;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Prompted, StoreError> {
        // Locked, so that no run of it ends between the look and the end of this: whoever ends one looks for prompts.
        let task = lock_task_to_move(tx, self.task).await?;
        let live = live_run(tx, &task).await?;
        let (last, waiting) = count(tx, self.task).await?;
        let stop = live.as_ref().and_then(|run| run.stop.as_ref());
        let reception = receive(task.state(), stop, waiting)
            .map_err(|refusal| StoreError::PromptRefused { task: self.task, refusal })?;
        let prompt = self.numbered(last + 1);
        let subject = live.as_ref().map_or_else(|| about(&task), about_run);
        self.keep(tx, &prompt, (task.history.fence, subject)).await?;
        let task = if reception == Reception::Reopened { self.reopen(tx, task).await? } else { task };
        Ok(Prompted { prompt, task, run: live, reception })
    }
}

impl AddPrompt {
    fn numbered(&self, seq: i64) -> Prompt {
        Prompt {
            task: self.task,
            seq,
            text: self.text.clone(),
            by: bounded(&self.by, LONGEST_NAME),
            at: self.now,
            taken_by: None,
            sent_at: None,
        }
    }

    async fn keep<T: Tx>(
        &self,
        tx: &mut T,
        prompt: &Prompt,
        (fence, subject): (i64, Subject),
    ) -> Result<(), StoreError> {
        let insert = sql!(
            "INSERT INTO prompts (task, seq, fence, text, author, at) VALUES ($1, $2, $3, $4, $5, $6)",
            prompt.task,
            prompt.seq,
            fence,
            prompt.text.as_str(),
            prompt.by.as_str(),
            prompt.at,
        );
        tx.defer(insert).await?;
        let (number, text, by) = (prompt.seq, shown(prompt.text.as_str()), prompt.by.clone());
        record(tx, self.now, subject, &Fact::TaskPrompted { number, text, by }).await
    }

    /// Queues a task again that was over. Tasks that waited for it wait again, unless they have begun: what it does now
    /// may change what they build on.
    async fn reopen<T: Tx>(&self, tx: &mut T, mut task: Task) -> Result<Task, StoreError> {
        let was = task.state();
        step(&mut task, TaskMove::Reopen)?;
        task.history.forgive();
        task.history.remark = None;
        refuse_taken(tx, &task).await?;
        if was == TaskState::Done {
            hold_back_dependents(tx, task.id, self.now).await?;
        }
        write_move(tx, &task, self.now, (about(&task), &Fact::TaskReopened {})).await?;
        read_task(tx, task.id).await
    }
}

async fn live_run<T: Tx>(tx: &mut T, task: &Task) -> Result<Option<Run>, StoreError> {
    if task.state() != TaskState::Running {
        return Ok(None);
    }
    let live = sql!(
        concat!("SELECT ", run_columns!(), " FROM runs r WHERE r.task = $1 AND r.ended_at IS NULL"),
        task.id,
    );
    tx.query_one(live).await?.map(|mut row| run(&mut row)).transpose()
}

/// Whether somebody said something while this run was at work that its agent never had. The caller holds the task. What
/// was left over by earlier runs does not count: a run that passes nothing on must not be followed by the next for ever.
pub(super) async fn said_meanwhile<T: Tx>(tx: &mut T, run: &Run) -> Result<bool, StoreError> {
    let unsent = sql!(
        "SELECT 1 FROM prompts WHERE task = $1 AND fence = $2 AND sent_at IS NULL LIMIT 1",
        run.task,
        run.fence,
    );
    Ok(tx.query_one(unsent).await?.is_some())
}

/// The number of the last prompt, and how many wait.
async fn count<T: Tx>(tx: &mut T, task: TaskId) -> Result<(i64, usize), StoreError> {
    let count =
        sql!("SELECT coalesce(max(seq), 0), count(*) - count(sent_at) FROM prompts WHERE task = $1", task);
    let row = tx.query_one(count).await?;
    let mut row = row.ok_or_else(|| StoreError::Malformed("a count without an answer".to_owned()))?;
    Ok((row.int()?, usize::try_from(row.int()?).unwrap_or(usize::MAX)))
}

/// The opposite of what the end of a run does, locked in the same order.
async fn hold_back_dependents<T: Tx>(tx: &mut T, on: TaskId, now: Millis) -> Result<(), StoreError> {
    let hold_back = sql!(
        "UPDATE tasks SET open_deps = open_deps + 1, version = version + 1, updated_at = $2 \
         WHERE id IN (SELECT t.id FROM tasks t WHERE t.id IN (SELECT task FROM deps WHERE on_task = $1) \
           ORDER BY t.id {for_update})",
        on,
        now,
    );
    tx.defer(hold_back).await
}

/// Gives a run the prompts that wait for its agent, oldest first. Each run gets a prompt once, because it names the last
/// one that it has; one whose answer was lost on the way asks again and gets the same.
#[derive(Debug, Clone, Copy)]
pub struct TakePrompts {
    /// The run.
    pub run: RunId,
    /// Its fencing number.
    pub fence: i64,
    /// The number of the last prompt that it has; 0, if it has none.
    pub after: i64,
}

impl Op for TakePrompts {
    type Out = Vec<Prompt>;
    const MODE: Mode = Mode::Write;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<Prompt>, StoreError> {
        let run = lock_live_run(tx, self.run, self.fence).await?;
        let take = sql!(
            concat!(
                "UPDATE prompts SET taken_by = $3 WHERE task = $1 AND seq > $2 AND sent_at IS NULL RETURNING ",
                prompt_columns!()
            ),
            run.task,
            self.after,
            self.run,
        );
        let taken = tx.query(take).await?.into_iter().map(prompt);
        let mut taken = taken.collect::<Result<Vec<_>, _>>()?;
        taken.sort_unstable_by_key(|prompt| prompt.seq);
        Ok(taken)
    }
}

/// Says that the agent of a run has a prompt that the run was given.
#[derive(Debug, Clone, Copy)]
pub struct PromptSent {
    /// The run.
    pub run: RunId,
    /// Its fencing number.
    pub fence: i64,
    /// The number of the prompt.
    pub seq: i64,
    /// Now.
    pub now: Millis,
}

impl Op for PromptSent {
    /// False if it was known already.
    type Out = bool;
    const MODE: Mode = Mode::Write;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<bool, StoreError> {
        let run = lock_live_run(tx, self.run, self.fence).await?;
        let find = sql!(
            concat!(
                "SELECT ",
                prompt_columns!(),
                " FROM prompts WHERE task = $1 AND seq = $2 AND taken_by = $3"
            ),
            run.task,
            self.seq,
            self.run,
        );
        let Some(row) = tx.query_one(find).await? else {
            return Err(StoreError::PromptNotTaken { run: self.run, seq: self.seq });
        };
        let prompt = prompt(row)?;
        if prompt.sent_at.is_some() {
            return Ok(false);
        }
        let sent = sql!(
            "UPDATE prompts SET sent_at = $3 WHERE task = $1 AND seq = $2",
            run.task,
            self.seq,
            self.now
        );
        tx.defer(sent).await?;
        let fact = Fact::RunPrompted { number: self.seq, text: shown(prompt.text.as_str()) };
        record(tx, self.now, about_run(&run), &fact).await?;
        Ok(true)
    }
}

/// The newest prompts of a task, oldest of them first, whether they were passed on or not.
#[derive(Debug, Clone, Copy)]
pub struct TaskPrompts {
    /// The task.
    pub task: TaskId,
    /// So many at most.
    pub limit: i64,
}

impl Op for TaskPrompts {
    type Out = Vec<Prompt>;
    const MODE: Mode = Mode::Read;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<Prompt>, StoreError> {
        let newest = sql!(
            concat!("SELECT ", prompt_columns!(), " FROM prompts WHERE task = $1 ORDER BY seq DESC LIMIT $2"),
            self.task,
            self.limit,
        );
        tx.query_alone(newest).await?.into_iter().rev().map(prompt).collect()
    }
}
