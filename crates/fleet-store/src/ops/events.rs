//! Reading events.
//!
//! Readers see sequence numbers that count from one without gaps, in an order in which every fact comes after those it
//! rests on. On SQLite one writer at a time commits, so the numbers are right from the start. On PostgreSQL they are
//! given afterwards, at the latest just before the events of all tasks are read (see `postgres::sequence`). Readers of
//! one task or run need not wait for that: the newest events may still be without a number.

use fleet_core::event::Event;
use fleet_core::id::ProjectId;

use super::rows;
use crate::dialect::Dialect;
use crate::ops::prelude::*;

#[derive(Debug, Clone, Copy)]
pub struct NewestSeq;

#[async_trait]
impl Op for NewestSeq {
    type Out = i64;
    const MODE: Mode = Mode::Read;
    const READS_EVENTS: bool = true;

    async fn run(&self, tx: &mut dyn Tx) -> Result<i64, StoreError> {
        let newest = sql!("SELECT seq FROM events WHERE seq IS NOT NULL ORDER BY seq DESC LIMIT 1");
        tx.query_alone(newest).await?.pop().map_or(Ok(0), |mut row| row.int())
    }
}

/// Events after a sequence number, oldest first.
#[derive(Debug, Clone, Copy)]
pub struct EventsAfter {
    /// Only later ones; 0 begins.
    pub since: i64,
    /// Only this project's and those of no project.
    pub project: Option<ProjectId>,
    pub limit: i64,
}

#[async_trait]
impl Op for EventsAfter {
    type Out = Vec<Event>;
    const MODE: Mode = Mode::Read;
    const READS_EVENTS: bool = true;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<Event>, StoreError> {
        let tail = sql!(
            "SELECT seq, at, project, task, run, kind, data FROM events \
             WHERE seq > $1 AND ($2 = '' OR project = $2 OR project IS NULL) ORDER BY seq LIMIT $3",
            self.since,
            self.project.map_or(String::new(), |id| id.to_string()),
            self.limit,
        );
        tx.query_alone(tail).await?.into_iter().map(rows::event).collect()
    }
}

#[derive(Debug, Clone, Copy)]
pub struct NewestEvents {
    /// Only this project's and those of no project.
    pub project: Option<ProjectId>,
    /// At most this many, oldest first.
    pub limit: i64,
}

#[async_trait]
impl Op for NewestEvents {
    type Out = Vec<Event>;
    const MODE: Mode = Mode::Read;
    const READS_EVENTS: bool = true;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<Event>, StoreError> {
        let newest = sql!(
            "SELECT seq, at, project, task, run, kind, data FROM events \
             WHERE seq IS NOT NULL AND ($1 = '' OR project = $1 OR project IS NULL) ORDER BY seq DESC LIMIT $2",
            self.project.map_or(String::new(), |id| id.to_string()),
            self.limit,
        );
        let mut events: Vec<Event> =
            tx.query_alone(newest).await?.into_iter().map(rows::event).collect::<Result<_, _>>()?;
        events.reverse();
        Ok(events)
    }
}

#[derive(Debug, Clone, Copy)]
pub struct TaskEvents {
    pub task: TaskId,
    /// The newest ones, oldest first.
    pub limit: i64,
}

#[async_trait]
impl Op for TaskEvents {
    type Out = Vec<Event>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<Event>, StoreError> {
        let numbered = sql!(
            "SELECT seq, at, project, task, run, kind, data FROM events WHERE task = $1 AND seq IS NOT NULL \
             ORDER BY seq DESC LIMIT $2",
            self.task,
            self.limit,
        );
        let fresh = sql!(
            "SELECT 0::BIGINT, at, project, task, run, kind, data FROM events WHERE task = $1 AND seq IS NULL \
             ORDER BY id DESC LIMIT $2",
            self.task,
            self.limit,
        );
        newest(tx, [fresh, numbered], self.limit).await
    }
}

/// The newest events of what two statements find, newest first each: those that have no number yet, which only
/// PostgreSQL has, and the others. Oldest first.
async fn newest(
    tx: &mut dyn Tx,
    [fresh, numbered]: [Statement; 2],
    limit: i64,
) -> Result<Vec<Event>, StoreError> {
    let found = match tx.dialect() {
        Dialect::Sqlite => tx.query_alone(numbered).await?,
        Dialect::Postgres => tx.query_all(vec![fresh, numbered]).await?.into_iter().flatten().collect(),
    };
    let wanted = found.into_iter().take(usize::try_from(limit).unwrap_or(0));
    let mut events: Vec<Event> = wanted.map(rows::event).collect::<Result<_, _>>()?;
    events.reverse();
    Ok(events)
}

/// The newest events of one run that are of certain kinds.
#[derive(Debug, Clone, Copy)]
pub struct RunEventsOf {
    pub run: RunId,
    pub kinds: &'static [&'static str],
    /// At most this many, oldest first.
    pub limit: i64,
}

#[async_trait]
impl Op for RunEventsOf {
    type Out = Vec<Event>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<Event>, StoreError> {
        let kinds = format!("[\"{}\"]", self.kinds.join("\",\""));
        // By its task, which has an index: a second one would cost every event that is written.
        let numbered = sql!(
            "SELECT seq, at, project, task, run, kind, data FROM events \
             WHERE task = (SELECT task FROM runs WHERE id = $2) AND run = $2 AND kind IN {list 1} \
             AND seq IS NOT NULL ORDER BY seq DESC LIMIT $3",
            kinds.clone(),
            self.run,
            self.limit,
        );
        let fresh = sql!(
            "SELECT 0::BIGINT, at, project, task, run, kind, data FROM events \
             WHERE run = $2 AND kind IN {list 1} AND seq IS NULL ORDER BY id DESC LIMIT $3",
            kinds,
            self.run,
            self.limit,
        );
        newest(tx, [fresh, numbered], self.limit).await
    }
}
