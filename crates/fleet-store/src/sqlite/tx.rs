//! An open transaction on an SQLite connection. Never waits: every call is done when it returns.

use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, ToSql};

use super::failure::explain;
use crate::StoreError;
use crate::dialect::Dialect;
use crate::tx::{Lock, Statement, Tx};
use crate::value::{Row, Value};

pub(super) struct SqliteTx<'a> {
    /// Exclusive: a shared connection could not be sent between threads.
    pub(super) connection: &'a mut Connection,
    pub(super) path: &'a Path,
    /// Whether the operation that runs has news.
    pub(super) announced: bool,
}

impl<'a> SqliteTx<'a> {
    pub(super) fn new(connection: &'a mut Connection, path: &'a Path) -> Self {
        Self { connection, path, announced: false }
    }

    /// Begins, ends or divides the transaction.
    pub(super) fn command(&self, sql: &str) -> Result<(), StoreError> {
        let run = self.connection.prepare_cached(sql).and_then(|mut statement| statement.execute([]));
        run.map(drop).map_err(|error| explain(&error, self.path))
    }

    fn prepare(&self, statement: &Statement) -> rusqlite::Result<CachedStatement<'_>> {
        self.connection.prepare_cached(&Dialect::Sqlite.adapt(statement.sql))
    }

    fn rows(&self, statement: &Statement) -> rusqlite::Result<Vec<Row>> {
        let mut prepared = self.prepare(statement)?;
        let columns = prepared.column_count();
        let mut found = prepared.query(rusqlite::params_from_iter(&statement.params))?;
        let mut rows = Vec::new();
        while let Some(row) = found.next()? {
            // Collecting results would not know how many there are.
            let mut values = Vec::with_capacity(columns);
            for at in 0..columns {
                values.push(from_sql(row.get_ref(at)?));
            }
            rows.push(Row::from(values));
        }
        Ok(rows)
    }
}

#[async_trait]
impl Tx for SqliteTx<'_> {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn together(&mut self) {}

    async fn query_alone(&mut self, statement: Statement) -> Result<Vec<Row>, StoreError> {
        self.query(statement).await
    }

    async fn query(&mut self, statement: Statement) -> Result<Vec<Row>, StoreError> {
        self.rows(&statement).map_err(|error| explain(&error, self.path))
    }

    async fn query_all(&mut self, statements: Vec<Statement>) -> Result<Vec<Vec<Row>>, StoreError> {
        statements
            .iter()
            .map(|statement| self.rows(statement).map_err(|error| explain(&error, self.path)))
            .collect()
    }

    async fn defer(&mut self, statement: Statement) -> Result<(), StoreError> {
        self.rows(&statement).map(drop).map_err(|error| explain(&error, self.path))
    }

    fn announce(&mut self) {
        self.announced = true;
    }

    async fn lock(&mut self, _: Lock) -> Result<(), StoreError> {
        Ok(())
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

fn from_sql(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        // No column holds a fraction; if one is there, the reader reports the wrong type.
        ValueRef::Real(number) => Value::Text(number.to_string()),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Text(format!("{} bytes", bytes.len())),
    }
}

/// Runs an operation's future, which on SQLite is always done at the first look.
pub(super) fn finish<T>(operation: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    match pin!(operation).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => {
            Err(StoreError::Failed("an operation waited for something other than the store".to_owned()))
        }
    }
}
