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
        /// How it is known for that.
        proof: Proof,
        /// How deep what follows from the tasks may be, if that is less than the run's own task allows.
        spawn_depth: u32,
    },
}

/// How the agent of a run is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// It has shown the secret of the run; this is its hash.
    Token(String),
    /// It was found among the processes of the run, and has shown nothing. The run may be one of another store.
    Seen,
}

impl Author {
    /// Where their tasks come from, if they may add any. An agent needs a run that lives; whose agent it is and how far it
    /// may go is what the store knows about that run.
    pub(super) async fn spawn<T: Tx>(&self, tx: &mut T) -> Result<Spawn, StoreError> {
        let (run, proof, wish) = match self {
            Self::Person { spawn_depth } => return Ok(Spawn::of_a_person(*spawn_depth)),
            Self::Agent { run, proof, spawn_depth } => (*run, proof, *spawn_depth),
        };
        let find = sql!(
            "SELECT r.token_hash, r.state, t.depth, t.spawn_depth FROM runs r JOIN tasks t ON t.id = r.task \
             WHERE r.id = $1",
            run,
        );
        let mut row = match (tx.query_one(find).await?, proof) {
            (Some(row), _) => row,
            (None, Proof::Token(_)) => return Err(StoreError::RunNotFound(run.to_string())),
            // Somebody's agent plays with a fleet of its own, such as that of a test.
            (None, Proof::Seen) => return Ok(Spawn::of_a_person(wish)),
        };
        let hash = row.optional_text()?;
        if matches!(proof, Proof::Token(shown) if hash.as_ref() != Some(shown)) {
            return Err(StoreError::TokenRefused { run });
        }
        let state: RunState = row.parse()?;
        if !state.is_live() {
            return Err(StoreError::LeaseLost { run });
        }
        let mut number = || row.int().map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        let own = Spawn { parent: None, depth: number()?, most: number()? };
        Ok(own.child(run, wish)?)
    }
}
