//! Messages to the agents of tasks: kept until an agent has shown that it has them, and delivered in their order.
//!
//! A run takes what waits, delivers it, and leaves a receipt for each step. What its agent did not show to have goes to the
//! next run, so that a keeper that dies in between loses nothing; an agent may then be told the same twice, but never too
//! little.

use fleet_core::event::EventSubject;
use fleet_core::message::{
    Addressee, Channel, Message, MessageId, MessageKind, MessageMove, MessageState, Receipt, Receipts,
    Reception, TypedAnswer, receive,
};
use fleet_core::run::Run;
use fleet_core::task::{FieldError, PromptText, Task, TaskMove, TaskState};
use serde::{Deserialize, Serialize};

use super::branches::refuse_taken;
use super::questions::{AnswerQuestion, AnsweredQuestion, open_of, withdraw_open};
use super::rows::{about, lock_task_to_move, read_task, record, step, write_move};
use super::runs::row::{about_run, lock_live_run, run, run_columns};
use super::runs::texts::{bounded, shown};
use crate::ops::prelude::*;

/// The columns that [`message`] reads, in its order, perhaps with another column for the text.
macro_rules! message_columns {
    () => {
        message_columns!("text")
    };
    ($text:literal) => {
        concat!(
            "task, seq, kind, ",
            $text,
            ", sender, expires_at, taken_by, stored_at, delivered_at, seen_at"
        )
    };
}
pub(super) use message_columns;

/// Whether a message still has to be delivered to an agent. The parameter is the present time.
macro_rules! waits {
    ($now:literal) => {
        concat!("seen_at IS NULL AND kind <> 'question' AND (expires_at IS NULL OR expires_at > ", $now, ")")
    };
}
pub(super) use waits;

pub(super) fn message(mut row: Row) -> Result<Message, StoreError> {
    let row = &mut row;
    Ok(Message {
        id: MessageId { task: row.parse()?, seq: row.int()? },
        kind: row.parse()?,
        text: beginning(row.text()?)?,
        from: row.text()?,
        expires_at: row.optional_int()?.map(Millis),
        taken_by: row.optional_parse()?,
        receipts: Receipts {
            stored: Millis(row.int()?),
            delivered: row.optional_int()?.map(Millis),
            seen: row.optional_int()?.map(Millis),
        },
    })
}

/// The beginning of a text may be nothing but blanks, which no message is.
fn beginning(text: String) -> Result<PromptText, StoreError> {
    let text = if text.trim().is_empty() { format!("{text}…") } else { text };
    text.parse().map_err(|error: FieldError| StoreError::Malformed(error.to_string()))
}

/// Says something to the agent of a task. A task that was over or waited for an answer is queued again for it.
#[derive(Debug, Clone)]
pub struct SendMessage {
    pub task: TaskId,
    pub kind: MessageKind,
    pub text: PromptText,
    pub from: String,
    /// It is not delivered after this.
    pub expires_at: Option<Millis>,
    pub now: Millis,
}

/// A stored message, and where it goes.
#[derive(Debug, Clone)]
pub struct SentMessage {
    pub message: Message,
    pub task: Task,
    pub run: Option<Run>,
    pub reception: Reception,
}

/// Names of users and ids of runs are shorter.
const LONGEST_NAME: usize = 100;

#[async_trait]
impl Op for SendMessage {
    type Out = SentMessage;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<SentMessage, StoreError> {
        // Locked, so that no run of it ends meanwhile: ending a run looks for messages.
        let task = lock_task_to_move(tx, self.task).await?;
        let live = live_run(tx, &task).await?;
        if task.state() == TaskState::Waiting {
            match &open_of(tx, self.task).await?[..] {
                [] => {}
                [only] => return self.answer(tx, task, only.id).await,
                // A person's own words are for the whole of it.
                _ => withdraw_open(tx, self.task, self.now).await?,
            }
        }
        let (last, waiting) = count(tx, self.task, self.now).await?;
        let stop = live.as_ref().and_then(|run| run.stop.as_ref());
        let reception = receive(self.kind, Addressee { state: task.state(), stop, waiting })
            .map_err(|refusal| StoreError::MessageRefused { task: self.task, refusal })?;
        let message = self.numbered(last + 1);
        let subject = live.as_ref().map_or_else(|| about(&task), about_run);
        self.keep(tx, &message, (task.history.attempts, subject)).await?;
        let task = if reception == Reception::Reopened { reopen(tx, task, self.now).await? } else { task };
        Ok(SentMessage { message, task, run: live, reception })
    }
}

impl SendMessage {
    /// What is said to a task that waits for an answer is the answer.
    async fn answer(&self, tx: &mut dyn Tx, task: Task, id: MessageId) -> Result<SentMessage, StoreError> {
        let answer = TypedAnswer::OwnWords(self.text.as_str().to_owned());
        let by = bounded(&self.from, LONGEST_NAME);
        let answered = AnswerQuestion { id, answer, by, now: self.now }.answer(tx, task, None).await?;
        let AnsweredQuestion { message, task, run, .. } = answered;
        Ok(SentMessage { message, task, run, reception: Reception::Reopened })
    }

    fn numbered(&self, seq: i64) -> Message {
        Message {
            id: MessageId { task: self.task, seq },
            kind: self.kind,
            text: self.text.clone(),
            from: bounded(&self.from, LONGEST_NAME),
            expires_at: self.expires_at,
            taken_by: None,
            receipts: Receipts::new(self.now),
        }
    }

    async fn keep(
        &self,
        tx: &mut dyn Tx,
        message: &Message,
        (attempt, subject): (i64, EventSubject),
    ) -> Result<(), StoreError> {
        let insert = sql!(
            "INSERT INTO messages (task, seq, kind, live, fence, text, sender, stored_at, expires_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            message.id.task,
            message.id.seq,
            message.kind.as_str(),
            message.kind.reaches(Channel::Input),
            attempt,
            message.text.as_str(),
            message.from.as_str(),
            message.receipts.stored,
            message.expires_at,
        );
        tx.defer(insert).await?;
        let (number, text, by) = (message.id.seq, shown(message.text.as_str()), message.from.clone());
        record(tx, self.now, subject, &Fact::TaskPrompted { number, text, by }).await
    }
}

/// Queues a task again that was over or waited for an answer. Tasks that waited for it wait again, unless they have begun:
/// what it does now may change what they build on.
pub(super) async fn reopen(tx: &mut dyn Tx, mut task: Task, now: Millis) -> Result<Task, StoreError> {
    task.history.reset_failures();
    queue_again(tx, task, now).await
}

/// The same with its record as it is.
pub(super) async fn queue_again(tx: &mut dyn Tx, mut task: Task, now: Millis) -> Result<Task, StoreError> {
    let was = task.state();
    step(&mut task, TaskMove::Reopen)?;
    task.history.remark = None;
    refuse_taken(tx, &task).await?;
    if was == TaskState::Done {
        hold_back_dependents(tx, task.id, now).await?;
    }
    write_move(tx, &task, now, (about(&task), &Fact::TaskReopened {})).await?;
    read_task(tx, task.id).await
}

pub(super) async fn live_run(tx: &mut dyn Tx, task: &Task) -> Result<Option<Run>, StoreError> {
    if task.state() != TaskState::Running {
        return Ok(None);
    }
    let live = sql!(
        concat!("SELECT ", run_columns!(), " FROM runs r WHERE r.task = $1 AND r.ended_at IS NULL"),
        task.id,
    );
    tx.query_one(live).await?.map(|mut row| run(&mut row)).transpose()
}

/// Whether a message came while this run was at work that its agent never got. The caller holds the task. Messages that
/// earlier runs left over do not count: runs that deliver nothing must not follow each other forever.
pub(super) async fn has_new_messages(tx: &mut dyn Tx, run: &Run, now: Millis) -> Result<bool, StoreError> {
    let unseen = sql!(
        concat!("SELECT 1 FROM messages WHERE task = $1 AND fence = $2 AND ", waits!("$3"), " LIMIT 1"),
        run.task,
        run.attempt,
        now,
    );
    Ok(tx.query_one(unseen).await?.is_some())
}

/// The number of the last message, and how many wait.
async fn count(tx: &mut dyn Tx, task: TaskId, now: Millis) -> Result<(i64, usize), StoreError> {
    // Those that wait have an index of their own: a task may have had many more.
    let count = sql!(
        concat!(
            "SELECT coalesce((SELECT max(seq) FROM messages WHERE task = $1), 0), \
             (SELECT count(*) FROM messages WHERE task = $1 AND ",
            waits!("$2"),
            ")"
        ),
        task,
        now,
    );
    let row = tx.query_one(count).await?;
    let mut row = row.ok_or_else(|| StoreError::Malformed("a count without an answer".to_owned()))?;
    Ok((row.int()?, usize::try_from(row.int()?).unwrap_or(usize::MAX)))
}

/// The opposite of what the end of a run does, locked in the same order.
async fn hold_back_dependents(tx: &mut dyn Tx, on: TaskId, now: Millis) -> Result<(), StoreError> {
    let hold_back = sql!(
        "UPDATE tasks SET open_deps = open_deps + 1, version = version + 1, updated_at = $2 \
         WHERE id IN (SELECT t.id FROM tasks t WHERE t.id IN (SELECT task FROM deps WHERE on_task = $1) \
           ORDER BY t.id {for_update})",
        on,
        now,
    );
    tx.defer(hold_back).await
}

/// A batch has at most this many messages.
const BATCH: i64 = 100;
/// A batch ends with the message that brings it over this many characters, because it is held in memory.
const BATCH_CHARS: i64 = 4 << 20;

/// Gives a run the first of the messages that wait for its agent, oldest first; nothing if none waits. Each run gets a message
/// once, because it names the last one that it has; one whose answer was lost on the way asks again and gets the same. What it
/// has delivered meanwhile stays delivered.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct TakeMessages {
    pub run: RunId,
    pub attempt: i64,
    pub channel: Channel,
    /// The number of the last message that it has; 0, if it has none.
    pub after: i64,
    pub now: Millis,
}

#[async_trait]
impl Op for TakeMessages {
    type Out = Vec<Message>;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<Message>, StoreError> {
        let run = lock_live_run(tx, self.run, self.attempt).await?;
        let take = sql!(
            concat!(
                "UPDATE messages SET taken_by = $3, \
                   delivered_at = CASE WHEN taken_by = $3 THEN delivered_at END WHERE task = $1 AND seq IN (\
                   SELECT seq FROM (\
                     SELECT seq, sum(size) OVER (ORDER BY seq) - size AS before FROM (\
                       SELECT seq, length(text) AS size FROM messages \
                       WHERE task = $1 AND seq > $2 AND (live = 1 OR fence < $4) AND ",
                waits!("$5"),
                "      ORDER BY seq LIMIT $6) AS first_ones) AS sums WHERE before < $7) AND ",
                waits!("$5"),
                " RETURNING ",
                message_columns!()
            ),
            run.task,
            self.after,
            self.run,
            self.claims(),
            self.now,
            BATCH,
            BATCH_CHARS,
        );
        let taken = tx.query(take).await?.into_iter().map(message);
        let mut taken = taken.collect::<Result<Vec<_>, _>>()?;
        taken.sort_unstable_by_key(|message| message.id.seq);
        Ok(taken)
    }
}

impl TakeMessages {
    /// A message that does not interrupt is for a run that begins with it, if the task had fewer claims when it was
    /// sent.
    const fn claims(&self) -> i64 {
        match self.channel {
            Channel::Start => self.attempt,
            Channel::Input => 0,
        }
    }
}

/// Leaves a receipt for messages that a run took, in their order.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RecordReceipts {
    pub run: RunId,
    pub attempt: i64,
    pub receipt: Receipt,
    pub seqs: Vec<i64>,
    pub now: Millis,
}

#[async_trait]
impl Op for RecordReceipts {
    /// Those that were not marked so before.
    type Out = Vec<i64>;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<i64>, StoreError> {
        let run = lock_live_run(tx, self.run, self.attempt).await?;
        let mut news = Vec::new();
        for seq in &self.seqs {
            if self.leave(tx, &run, *seq).await? {
                news.push(*seq);
            }
        }
        Ok(news)
    }
}

impl RecordReceipts {
    async fn leave(&self, tx: &mut dyn Tx, run: &Run, seq: i64) -> Result<bool, StoreError> {
        let find = sql!(
            concat!(
                "SELECT ",
                message_columns!(),
                " FROM messages WHERE task = $1 AND seq = $2 AND taken_by = $3"
            ),
            run.task,
            seq,
            self.run,
        );
        let not_taken = StoreError::MessageNotTaken { run: self.run, seq };
        let message = message(tx.query_one(find).await?.ok_or_else(|| not_taken.clone())?)?;
        let before = message.receipts;
        let after = before.after(MessageMove::from(self.receipt), self.now).map_err(|_| not_taken)?;
        if after == before {
            return Ok(false);
        }
        let write = sql!(
            "UPDATE messages SET delivered_at = $3, seen_at = $4 WHERE task = $1 AND seq = $2",
            run.task,
            seq,
            after.delivered,
            after.seen,
        );
        tx.defer(write).await?;
        if after.state() == MessageState::Seen {
            let fact = Fact::RunPrompted { number: seq, text: shown(message.text.as_str()) };
            record(tx, self.now, about_run(run), &fact).await?;
        }
        Ok(true)
    }
}

/// The newest messages of a task, oldest of them first, however far they came. Of long ones the beginning.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct TaskMessages {
    pub task: TaskId,
    pub limit: i64,
}

impl TaskMessages {
    /// A text of this many characters is the beginning of one that may be longer.
    pub const LONGEST_TEXT: usize = 262_144;
}

#[async_trait]
impl Op for TaskMessages {
    type Out = Vec<Message>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<Message>, StoreError> {
        let newest = sql!(
            concat!(
                "SELECT ",
                message_columns!("substr(text, 1, 262144)"),
                " FROM messages WHERE task = $1 ORDER BY seq DESC LIMIT $2"
            ),
            self.task,
            self.limit,
        );
        tx.query_alone(newest).await?.into_iter().rev().map(message).collect()
    }
}
