//! Who adds tasks.

use fleet_core::run::RunState;
use fleet_core::task::Spawn;

use crate::ops::prelude::*;

/// At most this many tasks that are not over come from the agents of one task: more than any plan has, and few enough for a
/// queue that people look at.
pub const MAX_ADDED: usize = 1_000;

#[derive(Debug, Clone)]
pub enum Author {
    /// A person, or a program that acts for one.
    Person {
        /// How many generations of tasks may follow.
        spawn_depth: u32,
    },
    Agent {
        run: RunId,
        /// How deep what follows from the tasks may be, if that is less than the run's own task allows.
        spawn_depth: u32,
    },
}

impl Author {
    /// Where their tasks come from, if they may add this many. An agent needs a live run; the store knows whose agent
    /// it is and how far it may go.
    pub(super) async fn spawn(&self, tx: &mut dyn Tx, count: usize) -> Result<Spawn, StoreError> {
        let (run, wish) = match self {
            Self::Person { spawn_depth } => return Ok(Spawn::of_a_person(*spawn_depth)),
            Self::Agent { run, spawn_depth } => (*run, *spawn_depth),
        };
        let find = sql!(
            "SELECT r.state, r.task, t.depth, t.spawn_depth FROM runs r JOIN tasks t ON t.id = r.task WHERE r.id = $1",
            run,
        );
        let row = tx.query_one(find).await?;
        let mut row = row.ok_or_else(|| StoreError::RunNotFound(run.to_string()))?;
        let state: RunState = row.parse()?;
        if !state.is_live() {
            return Err(StoreError::LeaseLost { run });
        }
        refuse_too_many(tx, row.parse()?, count).await?;
        let mut number = || row.int().map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        let own = Spawn { parent: None, depth: number()?, most: number()? };
        Ok(own.child(run, wish)?)
    }
}

async fn refuse_too_many(tx: &mut dyn Tx, task: TaskId, count: usize) -> Result<(), StoreError> {
    let open = sql!(
        "SELECT count(*) FROM tasks WHERE parent IN (SELECT id FROM runs WHERE task = $1) \
         AND state IN ('queued', 'held', 'running', 'waiting')",
        task,
    );
    let row = tx.query_one(open).await?;
    let mut row = row.ok_or_else(|| StoreError::Malformed("a count without an answer".to_owned()))?;
    let open = usize::try_from(row.int()?).unwrap_or(usize::MAX);
    if open.saturating_add(count) <= MAX_ADDED {
        return Ok(());
    }
    Err(StoreError::TooManyAdded { task, most: MAX_ADDED })
}
