//! An open transaction on a PostgreSQL connection, with as few trips to the server as possible: BEGIN travels
//! with the first statement, deferred statements with the next one, COMMIT with the last.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use async_trait::async_trait;
use deadpool_postgres::Object;
use tokio_postgres::types::ToSql;

use super::failure::{ServerLabel, answered, explain};
use super::types;
use crate::StoreError;
use crate::dialect::Dialect;
use crate::tx::{Lock, Mode, Statement, Tx, sql};
use crate::value::Row;

/// Deferred statements are sent when this many wait, so that a large import needs little memory.
const MAX_DEFERRED: usize = 512;

pub(super) struct PostgresTx<'a> {
    /// Taken out when the transaction ends well; a connection in an unknown state is never used again.
    connection: Option<Object>,
    begin: Option<&'static str>,
    /// Whether a statement without a transaction around it has changed something, or may have.
    alone: bool,
    /// Whether no statement may commit by itself.
    together: bool,
    deferred: Vec<Statement>,
    /// Whether the operation has news.
    announced: bool,
    server: &'a ServerLabel,
}

type Answer<'a> = Pin<Box<dyn Future<Output = Result<QueryReply, tokio_postgres::Error>> + Send + 'a>>;

enum QueryReply {
    Rows(Vec<tokio_postgres::Row>),
    Done,
}

impl<'a> PostgresTx<'a> {
    pub(super) fn begin(connection: Object, mode: Mode, server: &'a ServerLabel) -> Self {
        let begin = match mode {
            // Several statements of a read see one state.
            Mode::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            // Whatever the server's default is: a stricter level would refuse what is locked and read again here.
            Mode::Write => "BEGIN ISOLATION LEVEL READ COMMITTED",
        };
        Self {
            connection: Some(connection),
            begin: Some(begin),
            alone: false,
            together: false,
            deferred: Vec::new(),
            announced: false,
            server,
        }
    }

    /// Whether something may be committed though the operation has not come to its end.
    pub(super) fn may_have_committed(&self) -> bool {
        self.alone
    }

    /// Returns whether there is news.
    pub(super) async fn commit(mut self) -> Result<bool, StoreError> {
        if self.begin.is_none() || !self.deferred.is_empty() {
            self.send_all(Vec::new(), Some("COMMIT")).await?;
        }
        drop(self.connection.take());
        Ok(self.announced)
    }

    pub(super) async fn roll_back(mut self) {
        self.deferred.clear();
        if self.begin.is_some() {
            drop(self.connection.take());
        } else if let Some(connection) = self.connection.take()
            && answered(Box::pin(connection.batch_execute("ROLLBACK")), self.server).await.is_err()
        {
            drop(Object::take(connection));
        }
    }

    /// Sends the deferred statements and `statements` together, and returns the rows of the latter.
    async fn send_all(
        &mut self,
        statements: Vec<Statement>,
        end: Option<&'static str>,
    ) -> Result<Vec<Vec<tokio_postgres::Row>>, StoreError> {
        let gone = || StoreError::Failed("the transaction is over".to_owned());
        let connection = self.connection.as_ref().ok_or_else(gone)?;
        let deferred = std::mem::take(&mut self.deferred);
        let skipped = deferred.len() + usize::from(self.begin.is_some());
        let batch: Vec<Statement> = deferred.into_iter().chain(statements).collect();
        let server = self.server;
        let mut prepared = Vec::with_capacity(batch.len());
        for statement in &batch {
            let sql = Dialect::Postgres.adapt(statement.sql);
            prepared.push(answered(Box::pin(connection.prepare_cached(&sql)), server).await?);
        }
        let mut answers: Vec<Answer<'_>> = Vec::with_capacity(batch.len() + 2);
        let command = |text| -> Answer<'_> {
            Box::pin(async move { connection.batch_execute(text).await.map(|()| QueryReply::Done) })
        };
        answers.extend(self.begin.take().map(command));
        for (statement, prepared) in batch.iter().zip(&prepared) {
            let params: Vec<&(dyn ToSql + Sync)> = statement.params.iter().map(|param| param as _).collect();
            answers.push(Box::pin(
                async move { connection.query(prepared, &params).await.map(QueryReply::Rows) },
            ));
        }
        answers.extend(end.map(command));
        let replies = answered(Box::pin(in_order(answers)), server).await?;
        let rows = replies.into_iter().skip(skipped).filter_map(|reply| match reply {
            QueryReply::Rows(rows) => Some(rows),
            QueryReply::Done => None,
        });
        Ok(rows.collect())
    }

    fn rows(&self, rows: &[tokio_postgres::Row]) -> Result<Vec<Row>, StoreError> {
        rows.iter()
            .map(types::row)
            .collect::<Result<_, _>>()
            .map_err(|error| explain(&error, &self.server.place))
    }
}

impl Drop for PostgresTx<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            drop(Object::take(connection));
        }
    }
}

/// Waits for all answers. Each request is sent when its future is first polled, so they are polled in order.
async fn in_order(mut answers: Vec<Answer<'_>>) -> Result<Vec<QueryReply>, tokio_postgres::Error> {
    let mut replies: Vec<Option<Result<QueryReply, tokio_postgres::Error>>> =
        answers.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (answer, reply) in answers.iter_mut().zip(&mut replies) {
            if reply.is_none()
                && let Poll::Ready(result) = answer.as_mut().poll(context)
            {
                *reply = Some(result);
            }
        }
        if replies.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    // The first failure is the cause; those after it only say that the transaction is aborted.
    replies.into_iter().flatten().collect()
}

#[async_trait]
impl Tx for PostgresTx<'_> {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn together(&mut self) {
        self.together = true;
    }

    async fn query_alone(&mut self, statement: Statement) -> Result<Vec<Row>, StoreError> {
        if self.together || self.begin.is_none() || !self.deferred.is_empty() {
            return self.query(statement).await;
        }
        // Without BEGIN the statement commits by itself, and the transaction has still not begun.
        let begin = self.begin.take();
        self.alone = true;
        let rows = self.send_all(vec![statement], None).await;
        self.begin = begin;
        let rows = rows?.pop().unwrap_or_default();
        self.alone = !rows.is_empty();
        self.rows(&rows)
    }

    async fn query(&mut self, statement: Statement) -> Result<Vec<Row>, StoreError> {
        Ok(self.query_all(vec![statement]).await?.pop().unwrap_or_default())
    }

    async fn query_all(&mut self, statements: Vec<Statement>) -> Result<Vec<Vec<Row>>, StoreError> {
        let answers = self.send_all(statements, None).await?;
        answers.iter().map(|rows| self.rows(rows)).collect()
    }

    async fn defer(&mut self, statement: Statement) -> Result<(), StoreError> {
        self.deferred.push(statement);
        if self.deferred.len() >= MAX_DEFERRED {
            self.send_all(Vec::new(), None).await?;
        }
        Ok(())
    }

    fn announce(&mut self) {
        self.announced = true;
    }

    async fn lock(&mut self, lock: Lock) -> Result<(), StoreError> {
        self.query(sql!("SELECT 1 FROM (SELECT pg_advisory_xact_lock($1)) AS held", lock as i64))
            .await
            .map(drop)
    }
}
