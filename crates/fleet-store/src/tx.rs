//! What an operation sees of the database, and what an operation is.

use std::any::Any;

use async_trait::async_trait;

use crate::StoreError;
use crate::dialect::Dialect;
use crate::value::{Row, Value};

#[derive(Debug, Clone)]
pub struct Statement {
    /// Written once, with `$1` parameters and seams.
    pub sql: &'static str,
    /// In the order of their numbers.
    pub params: Vec<Value>,
}

/// Builds a [`Statement`]: `sql!("… $1 … $2", a, b)`.
macro_rules! sql {
    ($text:expr $(, $param:expr)* $(,)?) => {
        $crate::tx::Statement { sql: $text, params: vec![$($crate::value::Value::from($param)),*] }
    };
}
pub(crate) use sql;

#[async_trait]
pub trait Tx: Send {
    /// Which engine this is, for the rare operation that has a shorter way on one of them.
    fn dialect(&self) -> Dialect;

    async fn query(&mut self, statement: Statement) -> Result<Vec<Row>, StoreError>;

    /// Runs a statement that is, or may turn out to be, the whole operation: it needs no transaction around it,
    /// which saves PostgreSQL two more commands. Inside a transaction that has begun it is like any other.
    async fn query_alone(&mut self, statement: Statement) -> Result<Vec<Row>, StoreError>;

    /// Says that more follows whatever comes: nothing may be committed before the end.
    fn together(&mut self);

    /// Runs several statements in one trip to the server and returns the rows of each.
    async fn query_all(&mut self, statements: Vec<Statement>) -> Result<Vec<Vec<Row>>, StoreError>;

    /// Runs a statement whose answer is not needed, before the next one or at the end of the transaction: it is sent
    /// together with that one. Its failure fails the operation all the same.
    async fn defer(&mut self, statement: Statement) -> Result<(), StoreError>;

    /// Says that this transaction changes something: waiting processes are woken once it is committed. Never for a
    /// transaction that found nothing to do: woken processes run one, so each would wake all others again, forever.
    fn announce(&mut self);

    /// Waits until no other transaction holds the lock of this name; free with the transaction.
    /// SQLite has one writer anyway.
    async fn lock(&mut self, lock: Lock) -> Result<(), StoreError>;

    /// The row of an answer that has at most one.
    async fn query_one(&mut self, statement: Statement) -> Result<Option<Row>, StoreError> {
        Ok(self.query(statement).await?.into_iter().next())
    }
}

/// Store-wide locks, for what rows cannot guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i64)]
pub enum Lock {
    Migration = 0x0f1e_e701,
    /// New dependencies between existing tasks: two at once could close a cycle.
    Dependencies = 0x0f1e_e702,
    /// Claims that count what runs already.
    Claim = 0x0f1e_e703,
    /// Giving sequence numbers to events.
    Sequence = 0x0f1e_e704,
    /// Saying which project a repository belongs to.
    Projects = 0x0f1e_e705,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Changes nothing; sees one consistent state.
    Read,
    /// Durable when it returns.
    Write,
}

/// One transaction. May be run again from the start when two changes met.
#[async_trait]
pub trait Op: Send + Sync + 'static {
    type Out: Send + 'static;

    const MODE: Mode;

    /// Whether it reads events, which need their numbers first.
    const READS_EVENTS: bool = false;

    /// The whole of it. Must not wait for anything but `tx`.
    async fn run(&self, tx: &mut dyn Tx) -> Result<Self::Out, StoreError>;
}

/// An operation whose type is hidden: what runs it is compiled once, not again for each operation in each crate that
/// calls one.
#[async_trait]
pub(crate) trait AnyOp: Any + Send + Sync {
    fn mode(&self) -> Mode;
    fn reads_events(&self) -> bool;
    async fn run(&self, tx: &mut dyn Tx) -> Result<AnyOut, StoreError>;
}

/// What an [`AnyOp`] returns: an [`Op::Out`] for [`out_of`].
pub(crate) type AnyOut = Box<dyn Any + Send>;

#[async_trait]
impl<O: Op> AnyOp for O {
    fn mode(&self) -> Mode {
        O::MODE
    }

    fn reads_events(&self) -> bool {
        O::READS_EVENTS
    }

    async fn run(&self, tx: &mut dyn Tx) -> Result<AnyOut, StoreError> {
        Ok(Box::new(Op::run(self, tx).await?))
    }
}

/// What an operation of this type returned.
pub(crate) fn out_of<O: Op>(out: AnyOut) -> Result<O::Out, StoreError> {
    let typed = out.downcast().map_err(|_| StoreError::Failed("an answer to another question".to_owned()))?;
    Ok(*typed)
}
