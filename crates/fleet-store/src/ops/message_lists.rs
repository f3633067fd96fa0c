//! Messages to agents as people ask for them: which wait, what one says, and taking one back.

use fleet_core::id::ProjectId;
use fleet_core::message::{Message, MessageId};
use serde::{Deserialize, Serialize};

use super::deps::id_list;
use super::messages::{message, message_columns, waits};
use super::rows::{about, lock_task_to_move, record};
use crate::ops::prelude::*;

/// Messages of some tasks, oldest first, with the beginning of each text.
#[derive(Debug, Clone)]
pub struct ListMessages {
    pub of: MessagesOf,
    pub limit: i64,
    pub now: Millis,
}

#[derive(Debug, Clone)]
pub enum MessagesOf {
    /// All messages of these tasks; where there are more than the limit, the newest.
    Tasks(Vec<TaskId>),
    /// Those that no agent has seen, in this project.
    Unseen(ProjectId),
}

#[async_trait]
impl Op for ListMessages {
    type Out = Vec<Message>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<Message>, StoreError> {
        let list = match &self.of {
            MessagesOf::Tasks(tasks) => sql!(
                concat!(
                    "SELECT ",
                    message_columns!("substr(text, 1, 4000)"),
                    " FROM messages WHERE task IN {list 1} ORDER BY stored_at DESC, task DESC, seq DESC LIMIT $2"
                ),
                id_list(tasks.iter().copied()),
                self.limit,
            ),
            MessagesOf::Unseen(project) => sql!(
                concat!(
                    "SELECT ",
                    message_columns!("substr(text, 1, 4000)"),
                    " FROM messages WHERE task IN (SELECT id FROM tasks WHERE project = $1) AND ",
                    waits!("$3"),
                    " ORDER BY stored_at DESC, task DESC, seq DESC LIMIT $2"
                ),
                *project,
                self.limit,
                self.now,
            ),
        };
        let rows = tx.query_alone(list).await?.into_iter().rev();
        let mut messages = rows.map(message).collect::<Result<Vec<_>, _>>()?;
        if let MessagesOf::Tasks(_) = self.of {
            messages.sort_by_key(|message| message.id);
        }
        Ok(messages)
    }
}

/// All of what a message says; `None` if there is no such message.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct MessageText {
    pub id: MessageId,
}

#[async_trait]
impl Op for MessageText {
    type Out = Option<String>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Option<String>, StoreError> {
        let find = sql!("SELECT text FROM messages WHERE task = $1 AND seq = $2", self.id.task, self.id.seq,);
        tx.query_alone(find).await?.into_iter().next().map(|mut row| row.text()).transpose()
    }
}

/// Takes a message back that no agent has been given: it expires at once. A message that a live run has taken is on its
/// way, and stays.
#[derive(Debug, Clone, Copy)]
pub struct CancelMessage {
    pub id: MessageId,
    pub now: Millis,
}

#[async_trait]
impl Op for CancelMessage {
    /// The message as it is now, and whether it was taken back; nothing if there is none.
    type Out = Option<(Message, bool)>;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Self::Out, StoreError> {
        let task = lock_task_to_move(tx, self.id.task).await?;
        let cancel = sql!(
            concat!(
                "UPDATE messages SET expires_at = $3 WHERE task = $1 AND seq = $2 AND delivered_at IS NULL AND ",
                waits!("$3"),
                " AND (taken_by IS NULL OR NOT EXISTS (\
                     SELECT 1 FROM runs r WHERE r.id = taken_by AND r.ended_at IS NULL)) RETURNING ",
                message_columns!("substr(text, 1, 4000)")
            ),
            self.id.task,
            self.id.seq,
            self.now,
        );
        if let Some(row) = tx.query_one(cancel).await? {
            let message = message(row)?;
            let fact = Fact::TaskPromptCancelled { number: message.id.seq };
            record(tx, self.now, about(&task), &fact).await?;
            return Ok(Some((message, true)));
        }
        let find = sql!(
            concat!(
                "SELECT ",
                message_columns!("substr(text, 1, 4000)"),
                " FROM messages WHERE task = $1 AND seq = $2"
            ),
            self.id.task,
            self.id.seq,
        );
        Ok(tx.query_one(find).await?.map(message).transpose()?.map(|message| (message, false)))
    }
}
