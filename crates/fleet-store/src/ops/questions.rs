//! Questions of agents to people: asked once, answered once.
//!
//! A question is a message that no agent gets. Its answer is a message to the agent: the one that waits gets it where it
//! asked and says so, otherwise the next run takes it like any other.

use fleet_core::event::EventSubject;
use fleet_core::message::{
    DefaultAnswer, GivenAnswer, MAX_OPEN, Message, MessageId, MessageKind, Question, QuestionDraft, Receipts,
    TypedAnswer,
};
use fleet_core::policy::{FailureCounter, MAX_WAITS};
use fleet_core::run::{AgentState, Run};
use fleet_core::task::{FieldError, PromptText, Task, TaskState};
use serde::{Deserialize, Serialize};

use super::messages::{live_run, queue_again, reopen};
use super::rows::{about, json, lock_task_to_move, record};
use super::runs::row::{about_run, lock_live_run_of_agent};
use super::runs::texts::{bounded, shown};
use crate::ops::prelude::*;

/// The columns that [`question`] reads, in its order.
macro_rules! question_columns {
    () => {
        "m.task, m.seq, m.sender, m.text, m.stored_at, m.expires_at, m.default_at, m.question"
    };
}
pub(super) use question_columns;

/// A question that takes an answer.
macro_rules! is_open {
    () => {
        "m.kind = 'question' AND m.seen_at IS NULL AND m.expires_at IS NULL"
    };
}
pub(super) use is_open;

/// What a question has beside what every message has.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct QuestionColumn {
    options: Vec<String>,
    default: Option<String>,
    parked: bool,
    answer: Option<GivenAnswer>,
}

pub(super) fn question(mut row: Row) -> Result<Question, StoreError> {
    let row = &mut row;
    let (id, sender) = (MessageId { task: row.parse()?, seq: row.int()? }, row.text()?);
    let (text, asked_at) = (row.text()?, Millis(row.int()?));
    let (withdrawn, default_at) = (row.optional_int()?, row.optional_int()?);
    let column: QuestionColumn = row.optional_json()?.unwrap_or_default();
    Ok(Question {
        id,
        run: sender.parse().ok(),
        text: text.parse().map_err(|error: FieldError| StoreError::Malformed(error.to_string()))?,
        options: column.options,
        default: column.default.zip(default_at).map(|(text, at)| DefaultAnswer { text, at: Millis(at) }),
        is_parked: column.parked,
        asked_at,
        withdrawn_at: withdrawn.map(Millis),
        answer: column.answer,
    })
}

fn column(question: &Question) -> QuestionColumn {
    QuestionColumn {
        options: question.options.clone(),
        default: question.default.as_ref().map(|default| default.text.clone()),
        parked: question.is_parked,
        answer: question.answer.clone(),
    }
}

/// Asks people something, for the agent of a live run. Asked again, with the same words, it is the same question, as long as
/// the agent has no answer: so an agent whose call was cut off asks again, and nobody is asked twice.
#[derive(Debug, Clone)]
pub struct AskQuestion {
    pub run: RunId,
    pub draft: QuestionDraft,
    pub now: Millis,
}

#[async_trait]
impl Op for AskQuestion {
    type Out = Question;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Question, StoreError> {
        let (task, run) = lock_live_run_of_agent(tx, self.run).await?;
        if let Some(known) = self.known(tx, task.id).await? {
            return self.again(tx, known).await;
        }
        if open_of(tx, task.id).await?.len() >= MAX_OPEN {
            return Err(StoreError::TooManyQuestions(task.id));
        }
        let QuestionDraft { text, options, default, park } = self.draft.clone();
        // A task that has gone on by itself this often waits for a person.
        let default = default.filter(|_| task.history.waits < MAX_WAITS);
        let asked = Question {
            id: MessageId { task: task.id, seq: last_number(tx, task.id).await? + 1 },
            run: Some(self.run),
            text,
            options,
            default,
            is_parked: park,
            asked_at: self.now,
            withdrawn_at: None,
            answer: None,
        };
        insert_question(tx, &asked, (&task, &run)).await?;
        let evidence = "it called `fleet ask`";
        let asks = sql!(
            "UPDATE runs SET agent_state = $2, agent_state_since = $3, agent_state_text = $4, \
             agent_state_evidence = $5 WHERE id = $1",
            run.id,
            AgentState::AsksQuestion.as_str(),
            self.now,
            bounded(asked.text.as_str(), LONGEST_STATE_TEXT),
            evidence,
        );
        tx.defer(asks).await?;
        Ok(asked)
    }
}

/// Of what an agent asks, in characters, in the row of its run.
const LONGEST_STATE_TEXT: usize = 500;

impl AskQuestion {
    /// The same question, if the agent does not have its answer yet.
    async fn known(&self, tx: &mut dyn Tx, task: TaskId) -> Result<Option<Question>, StoreError> {
        let find = sql!(
            concat!(
                "SELECT ",
                question_columns!(),
                " FROM messages m WHERE m.task = $1 AND m.kind = 'question' AND m.text = $2 AND m.expires_at IS NULL \
                 AND (m.seen_at IS NULL OR EXISTS (SELECT 1 FROM messages a WHERE a.task = m.task AND a.reply_to = m.seq \
                   AND a.seen_at IS NULL)) ORDER BY m.seq DESC LIMIT 1"
            ),
            task,
            self.draft.text.as_str(),
        );
        tx.query_one(find).await?.map(question).transpose()
    }

    /// An agent may decide later that it does not wait.
    async fn again(&self, tx: &mut dyn Tx, mut known: Question) -> Result<Question, StoreError> {
        if self.draft.park && known.is_open() && !known.is_parked {
            known.is_parked = true;
            write_column(tx, &known).await?;
        }
        Ok(known)
    }
}

async fn write_column(tx: &mut dyn Tx, question: &Question) -> Result<(), StoreError> {
    let write = sql!(
        "UPDATE messages SET question = $3 WHERE task = $1 AND seq = $2",
        question.id.task,
        question.id.seq,
        json(&column(question))?,
    );
    tx.defer(write).await
}

async fn insert_question(
    tx: &mut dyn Tx,
    asked: &Question,
    (task, run): (&Task, &Run),
) -> Result<(), StoreError> {
    let insert = sql!(
        "INSERT INTO messages (task, seq, kind, live, fence, text, sender, stored_at, default_at, question) \
         VALUES ($1, $2, $3, 0, $4, $5, $6, $7, $8, $9)",
        asked.id.task,
        asked.id.seq,
        MessageKind::Question.as_str(),
        task.history.attempts,
        asked.text.as_str(),
        run.id,
        asked.asked_at,
        asked.default.as_ref().map(|default| default.at),
        json(&column(asked))?,
    );
    tx.defer(insert).await?;
    let (number, text) = (asked.id.seq, shown(asked.text.as_str()));
    let fact = Fact::TaskAsked { number, text, options: asked.options.clone() };
    record(tx, asked.asked_at, about_run(run), &fact).await
}

async fn last_number(tx: &mut dyn Tx, task: TaskId) -> Result<i64, StoreError> {
    let last = sql!("SELECT coalesce(max(seq), 0) FROM messages WHERE task = $1", task);
    tx.query_one(last).await?.map_or(Ok(0), |mut row| row.int())
}

/// The open questions of a task, oldest first.
pub(super) async fn open_of(tx: &mut dyn Tx, task: TaskId) -> Result<Vec<Question>, StoreError> {
    let open = sql!(
        concat!(
            "SELECT ",
            question_columns!(),
            " FROM messages m WHERE m.task = $1 AND ",
            is_open!(),
            " ORDER BY m.seq"
        ),
        task,
    );
    tx.query(open).await?.into_iter().map(question).collect()
}

/// Notes the question with which a run ended in its agent's own way.
pub(super) async fn note_ending_question(
    tx: &mut dyn Tx,
    (task, run): (&Task, &Run),
    text: &str,
    now: Millis,
) -> Result<(), StoreError> {
    let text: PromptText =
        shown(text).parse().or_else(|_| UNKNOWN_QUESTION.parse()).map_err(StoreError::Field)?;
    let asked = Question {
        id: MessageId { task: task.id, seq: last_number(tx, task.id).await? + 1 },
        run: Some(run.id),
        text,
        options: Vec::new(),
        default: None,
        is_parked: true,
        asked_at: now,
        withdrawn_at: None,
        answer: None,
    };
    insert_question(tx, &asked, (task, run)).await
}

/// The words of an agent that did not say what it asks.
const UNKNOWN_QUESTION: &str = "It ended with a question.";

/// Whether an answer came while this run was at work that its agent never got.
pub(super) async fn has_unseen_answer(tx: &mut dyn Tx, run: &Run) -> Result<bool, StoreError> {
    let unseen = sql!(
        "SELECT 1 FROM messages WHERE task = $1 AND fence = $2 AND seen_at IS NULL AND kind = 'answer' LIMIT 1",
        run.task,
        run.attempt,
    );
    Ok(tx.query_one(unseen).await?.is_some())
}

/// The open questions of a task that goes on or is settled without an answer take none any more.
pub(super) async fn withdraw_open(tx: &mut dyn Tx, task: TaskId, now: Millis) -> Result<(), StoreError> {
    let withdraw = sql!(
        "UPDATE messages SET expires_at = $2 \
         WHERE task = $1 AND kind = 'question' AND seen_at IS NULL AND expires_at IS NULL",
        task,
        now,
    );
    tx.defer(withdraw).await
}

/// Answers a question. The first answer counts: any other is refused, with the one that did. A task that waits for nothing
/// else is queued again.
#[derive(Debug, Clone)]
pub struct AnswerQuestion {
    pub id: MessageId,
    pub answer: TypedAnswer,
    pub by: String,
    pub now: Millis,
}

/// A question with its answer, and what follows.
#[derive(Debug, Clone)]
pub struct AnsweredQuestion {
    pub question: Question,
    /// The message that has the answer for the agent.
    pub message: Message,
    pub task: Task,
    pub run: Option<Run>,
    /// How many other questions of the task are open.
    pub open: usize,
}

#[async_trait]
impl Op for AnswerQuestion {
    type Out = AnsweredQuestion;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<AnsweredQuestion, StoreError> {
        let task = match lock_task_to_move(tx, self.id.task).await {
            Err(StoreError::TaskNotFound(_)) => return Err(StoreError::QuestionNotFound(self.id)),
            task => task?,
        };
        let live = live_run(tx, &task).await?;
        self.answer(tx, task, live).await
    }
}

impl AnswerQuestion {
    /// The caller holds the task.
    pub(super) async fn answer(
        &self,
        tx: &mut dyn Tx,
        task: Task,
        live: Option<Run>,
    ) -> Result<AnsweredQuestion, StoreError> {
        let find = sql!(
            concat!(
                "SELECT ",
                question_columns!(),
                " FROM messages m WHERE m.task = $1 AND m.seq = $2 AND m.kind = 'question'"
            ),
            self.id.task,
            self.id.seq,
        );
        let found = tx.query_one(find).await?.ok_or(StoreError::QuestionNotFound(self.id))?;
        let mut asked = question(found)?;
        let text = asked
            .take(&self.answer, self.now)
            .map_err(|refusal| StoreError::AnswerRefused { id: self.id, refusal })?;
        asked.answer = Some(GivenAnswer { text, by: bounded(&self.by, LONGEST_NAME), at: self.now });
        let subject = live.as_ref().map_or_else(|| about(&task), about_run);
        let message = self.keep(tx, &asked, (task.history.attempts, subject)).await?;
        let open = open_of(tx, task.id).await?.len();
        let task = self.follow(tx, task, live.as_ref(), open).await?;
        Ok(AnsweredQuestion { question: asked, message, task, run: live, open })
    }

    /// What follows when its question is the last: a task that waits continues, and an agent at work asks nothing more.
    async fn follow(
        &self,
        tx: &mut dyn Tx,
        task: Task,
        live: Option<&Run>,
        open: usize,
    ) -> Result<Task, StoreError> {
        if open > 0 {
            return Ok(task);
        }
        match (task.state(), &self.answer) {
            (TaskState::Waiting, TypedAnswer::Default) => {
                // Nobody looked at it: what failed before still counts, and so does this.
                let mut task = task;
                task.history.count(FailureCounter::Waits);
                return queue_again(tx, task, self.now).await;
            }
            (TaskState::Waiting, _) => return reopen(tx, task, self.now).await,
            _ => {}
        }
        let asked = live.and_then(|run| Some((run.id, run.agent_state.as_ref()?.state)));
        if let Some((run, AgentState::AsksQuestion)) = asked {
            tx.defer(sql!("UPDATE runs SET agent_state = NULL WHERE id = $1", run)).await?;
        }
        Ok(task)
    }

    /// Writes the answer to the question, and as a message to the agent.
    async fn keep(
        &self,
        tx: &mut dyn Tx,
        asked: &Question,
        (attempt, subject): (i64, EventSubject),
    ) -> Result<Message, StoreError> {
        let given = asked.answer.as_ref();
        let (text, by) = given.map_or(("", ""), |given| (given.text.as_str(), given.by.as_str()));
        let whole: PromptText = asked.with_answer(text).parse().map_err(StoreError::Field)?;
        let message = Message {
            id: MessageId { task: asked.id.task, seq: last_number(tx, asked.id.task).await? + 1 },
            kind: MessageKind::Answer,
            text: whole,
            from: by.to_owned(),
            expires_at: None,
            taken_by: None,
            receipts: Receipts::new(self.now),
        };
        let insert = sql!(
            "INSERT INTO messages (task, seq, kind, live, fence, text, sender, stored_at, reply_to) \
             VALUES ($1, $2, $3, 0, $4, $5, $6, $7, $8)",
            message.id.task,
            message.id.seq,
            message.kind.as_str(),
            attempt,
            message.text.as_str(),
            by,
            self.now,
            asked.id.seq,
        );
        tx.defer(insert).await?;
        let close = sql!(
            "UPDATE messages SET seen_at = $3, question = $4 WHERE task = $1 AND seq = $2",
            asked.id.task,
            asked.id.seq,
            self.now,
            json(&column(asked))?,
        );
        tx.defer(close).await?;
        let fact = Fact::TaskAnswered { number: asked.id.seq, text: shown(text), by: by.to_owned() };
        record(tx, self.now, subject, &fact).await?;
        Ok(message)
    }
}

/// Names of users and ids of runs are shorter.
const LONGEST_NAME: usize = 100;

/// The agent of a run has the answer to its question: no other run is told.
#[derive(Debug, Clone, Copy)]
pub struct ReceiveAnswer {
    pub id: MessageId,
    pub run: RunId,
    pub now: Millis,
}

#[async_trait]
impl Op for ReceiveAnswer {
    /// Whether that is news.
    type Out = bool;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<bool, StoreError> {
        let (task, run) = lock_live_run_of_agent(tx, self.run).await?;
        if task.id != self.id.task {
            return Err(StoreError::QuestionNotFound(self.id));
        }
        let receive = sql!(
            "UPDATE messages SET taken_by = $3, delivered_at = $4, seen_at = $4 \
             WHERE task = $1 AND reply_to = $2 AND seen_at IS NULL RETURNING seq, text",
            self.id.task,
            self.id.seq,
            self.run,
            self.now,
        );
        let Some(mut row) = tx.query_one(receive).await? else { return Ok(false) };
        let fact = Fact::RunPrompted { number: row.int()?, text: shown(&row.text()?) };
        record(tx, self.now, about_run(&run), &fact).await?;
        Ok(true)
    }
}
