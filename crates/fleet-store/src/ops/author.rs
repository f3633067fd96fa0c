//! Who adds tasks.

use fleet_core::id::RunId;
use fleet_core::run::RunState;
use fleet_core::task::Spawn;

use crate::StoreError;
use crate::tx::{Tx, sql};

/// Who adds tasks.
#[derive(Debug, Clone)]
pub enum Author {
    /// A person, or a program that works for one.
    Person {
        /// How deep what follows from the tasks may be.
        spawn_depth: u32,
    },
    /// The agent of a run.
    Agent {
        /// Which run.
        run: RunId,
        /// How deep what follows from the tasks may be, if that is less than the run's own task allows.
        spawn_depth: u32,
    },
}

impl Author {
    /// Where their tasks come from, if they may add any. An agent needs a run that lives; whose agent it is and how far it
    /// may go is what the store knows about that run.
    pub(super) async fn spawn(&self, tx: &mut dyn Tx) -> Result<Spawn, StoreError> {
        let (run, wish) = match self {
            Self::Person { spawn_depth } => return Ok(Spawn::of_a_person(*spawn_depth)),
            Self::Agent { run, spawn_depth } => (*run, *spawn_depth),
        };
        let find = sql!(
            "SELECT r.state, t.depth, t.spawn_depth FROM runs r JOIN tasks t ON t.id = r.task WHERE r.id = $1",
            run,
        );
        let row = tx.query_one(find).await?;
        let mut row = row.ok_or_else(|| StoreError::RunNotFound(run.to_string()))?;
        let state: RunState = row.parse()?;
        if !state.is_live() {
            return Err(StoreError::LeaseLost { run });
        }
        let mut number = || row.int().map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        let own = Spawn { parent: None, depth: number()?, most: number()? };
        Ok(own.child(run, wish)?)
    }
}
