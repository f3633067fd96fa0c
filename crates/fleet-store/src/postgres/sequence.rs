//! Numbers for events.
//!
//! Writers commit side by side: a number drawn at insert may become visible after a higher one, so a reader that
//! remembers the highest number it saw would miss rows, and rolled back numbers leave gaps. So `seq` is given
//! afterwards, by runners as they go and by readers of all events, one at a time, to the committed rows that have none;
//! a row that commits later gets a higher number. `id` is drawn when a fact is written, after the rows that it rests on
//! were locked, so ordering a batch by it keeps cause before effect. Rejected: one counter row that every writer locks
//! until its commit is on disk (no group commit any more), and hiding rows until no older transaction runs (a long one
//! in another database of the server would stop all readers).

use async_trait::async_trait;

use crate::StoreError;
use crate::tx::{Lock, Mode, Op, Tx, sql};

/// How many numbers one transaction gives: it holds a lock that other readers wait for.
pub(super) const CHUNK: usize = 5_000;

pub(super) struct NewestUnnumbered;

#[async_trait]
impl Op for NewestUnnumbered {
    type Out = Option<i64>;
    const MODE: Mode = Mode::Read;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Option<i64>, StoreError> {
        let newest = sql!("SELECT id FROM events WHERE seq IS NULL ORDER BY id DESC LIMIT 1");
        tx.query_alone(newest).await?.pop().map(|mut row| row.int()).transpose()
    }
}

/// Gives numbers to events that have none, up to one of them; returns how many. Later events are left to the next call:
/// otherwise this would never end while others write.
pub(super) struct GiveNumbers {
    pub(super) upto: i64,
}

#[async_trait]
impl Op for GiveNumbers {
    type Out = usize;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<usize, StoreError> {
        tx.lock(Lock::Sequence).await?;
        let give = sql!(
            "UPDATE events e SET seq = n.seq FROM ( \
               SELECT id, row_number() OVER (ORDER BY id) \
                 + (SELECT coalesce(max(seq), 0) FROM events WHERE seq IS NOT NULL) AS seq \
               FROM (SELECT id FROM events WHERE seq IS NULL AND id <= $2 ORDER BY id LIMIT $1) AS fresh) AS n \
             WHERE e.id = n.id AND e.seq IS NULL RETURNING 1",
            i64::try_from(CHUNK).unwrap_or(i64::MAX),
            self.upto,
        );
        Ok(tx.query(give).await?.len())
    }
}
