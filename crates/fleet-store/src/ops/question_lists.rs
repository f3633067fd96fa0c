//! Questions as people and agents read them.

use fleet_core::message::{MessageId, Question};

use super::questions::{is_open, question, question_columns};
use crate::ops::prelude::*;

/// One question, whatever became of it.
#[derive(Debug, Clone, Copy)]
pub struct GetQuestion {
    pub id: MessageId,
}

#[async_trait]
impl Op for GetQuestion {
    type Out = Question;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Question, StoreError> {
        let find = sql!(
            concat!(
                "SELECT ",
                question_columns!(),
                " FROM messages m WHERE m.task = $1 AND m.seq = $2 AND m.kind = 'question'"
            ),
            self.id.task,
            self.id.seq,
        );
        let found = tx.query_alone(find).await?.into_iter().next();
        question(found.ok_or(StoreError::QuestionNotFound(self.id))?)
    }
}

/// Open questions, oldest first.
#[derive(Debug, Clone, Copy)]
pub struct OpenQuestions {
    pub of: QuestionsOf,
    pub limit: i64,
}

#[derive(Debug, Clone, Copy)]
pub enum QuestionsOf {
    Everyone,
    Task(TaskId),
    /// Those whose default is due at this time.
    Due(Millis),
}

#[async_trait]
impl Op for OpenQuestions {
    type Out = Vec<Question>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<Question>, StoreError> {
        macro_rules! find {
            ($which:literal) => {
                concat!("SELECT ", question_columns!(), " FROM messages m WHERE ", is_open!(), $which)
            };
        }
        let find = match self.of {
            QuestionsOf::Everyone => sql!(find!(" ORDER BY m.stored_at, m.task, m.seq LIMIT $1"), self.limit),
            QuestionsOf::Task(task) => {
                sql!(find!(" AND m.task = $2 ORDER BY m.seq LIMIT $1"), self.limit, task)
            }
            QuestionsOf::Due(now) => sql!(
                find!(" AND m.default_at IS NOT NULL AND m.default_at <= $2 ORDER BY m.default_at LIMIT $1"),
                self.limit,
                now
            ),
        };
        tx.query_alone(find).await?.into_iter().map(question).collect()
    }
}
