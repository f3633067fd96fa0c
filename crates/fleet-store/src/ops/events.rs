//! Reading events.
//!
//! Readers see sequence numbers that count from one without gaps, in an order in which every fact comes after
//! those it rests on. On SQLite one writer at a time commits, so the numbers are right from the start. On
//! PostgreSQL they are given just before the first read (see `postgres::sequence`).

use fleet_core::event::Event;
use fleet_core::id::{ProjectId, RunId, TaskId};

use super::rows;
use crate::StoreError;
use crate::tx::{Mode, Op, Tx, sql};

/// Events after a sequence number, oldest first.
#[derive(Debug, Clone, Copy)]
pub struct Tail {
    /// Only later ones; 0 begins.
    pub since: i64,
    /// Only this project's and those of no project.
    pub project: Option<ProjectId>,
    /// So many at most.
    pub limit: i64,
}

impl Op for Tail {
    type Out = Vec<Event>;
    const MODE: Mode = Mode::Read;
    const READS_EVENTS: bool = true;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<Event>, StoreError> {
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

/// The newest events.
#[derive(Debug, Clone, Copy)]
pub struct Newest {
    /// Only this project's and those of no project.
    pub project: Option<ProjectId>,
    /// So many, oldest of them first.
    pub limit: i64,
}

impl Op for Newest {
    type Out = Vec<Event>;
    const MODE: Mode = Mode::Read;
    const READS_EVENTS: bool = true;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<Event>, StoreError> {
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

/// The history of one task.
#[derive(Debug, Clone, Copy)]
pub struct TaskEvents {
    /// Which.
    pub task: TaskId,
    /// The newest so many, oldest of them first.
    pub limit: i64,
}

impl Op for TaskEvents {
    type Out = Vec<Event>;
    const MODE: Mode = Mode::Read;
    const READS_EVENTS: bool = true;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<Event>, StoreError> {
        let newest = sql!(
            "SELECT seq, at, project, task, run, kind, data FROM events WHERE task = $1 AND seq IS NOT NULL \
             ORDER BY seq DESC LIMIT $2",
            self.task,
            self.limit,
        );
        let mut events: Vec<Event> =
            tx.query_alone(newest).await?.into_iter().map(rows::event).collect::<Result<_, _>>()?;
        events.reverse();
        Ok(events)
    }
}

/// What happened to one run after a sequence number, oldest first.
#[derive(Debug, Clone, Copy)]
pub struct RunEvents {
    /// Which.
    pub run: RunId,
    /// Only later ones; 0 begins.
    pub since: i64,
    /// So many at most.
    pub limit: i64,
}

impl Op for RunEvents {
    type Out = Vec<Event>;
    const MODE: Mode = Mode::Read;
    const READS_EVENTS: bool = true;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<Event>, StoreError> {
        // By its task, which has an index: a second one would cost every event that is written.
        let tail = sql!(
            "SELECT seq, at, project, task, run, kind, data FROM events \
             WHERE task = (SELECT task FROM runs WHERE id = $1) AND run = $1 AND seq > $2 ORDER BY seq LIMIT $3",
            self.run,
            self.since,
            self.limit,
        );
        tx.query_alone(tail).await?.into_iter().map(rows::event).collect()
    }
}

/// The newest events of one run that are of certain kinds.
#[derive(Debug, Clone, Copy)]
pub struct RunEventsOf {
    /// Which run.
    pub run: RunId,
    /// The names of the kinds.
    pub kinds: &'static [&'static str],
    /// So many, oldest of them first.
    pub limit: i64,
}

impl Op for RunEventsOf {
    type Out = Vec<Event>;
    const MODE: Mode = Mode::Read;
    const READS_EVENTS: bool = true;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<Event>, StoreError> {
        let kinds = format!("[\"{}\"]", self.kinds.join("\",\""));
        let newest = sql!(
            "SELECT seq, at, project, task, run, kind, data FROM events \
             WHERE task = (SELECT task FROM runs WHERE id = $2) AND run = $2 AND kind IN {list 1} \
             AND seq IS NOT NULL ORDER BY seq DESC LIMIT $3",
            kinds,
            self.run,
            self.limit,
        );
        let mut events: Vec<Event> =
            tx.query_alone(newest).await?.into_iter().map(rows::event).collect::<Result<_, _>>()?;
        events.reverse();
        Ok(events)
    }
}
