//! Who adds tasks.

use fleet_core::id::{RunId, TaskId};
use fleet_core::run::RunState;
use fleet_core::task::Spawn;

use crate::StoreError;
use crate::tx::{Mode, Op, Tx, sql};
use crate::value::Row;

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
        let Some(mut row) = known(tx, run, proof).await? else { return Ok(Spawn::of_a_person(wish)) };
        let _task: TaskId = row.parse()?;
        let state: RunState = row.parse()?;
        if !state.is_live() {
            return Err(StoreError::LeaseLost { run });
        }
        let mut number = || row.int().map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        let own = Spawn { parent: None, depth: number()?, most: number()? };
        Ok(own.child(run, wish)?)
    }
}

/// The task on which an agent works; none if its run is one of another store.
#[derive(Debug, Clone)]
pub struct OwnTask {
    /// Its run.
    pub run: RunId,
    /// How it is known for that.
    pub proof: Proof,
}

impl Op for OwnTask {
    type Out = Option<TaskId>;
    const MODE: Mode = Mode::Read;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Option<TaskId>, StoreError> {
        known(tx, self.run, &self.proof).await?.map(|mut row| row.parse()).transpose()
    }
}

/// The task and the state of a run whose agent has proven to be that, and how deep the task is and may be. Nothing, if
/// somebody's agent plays with a fleet of its own, such as that of a test.
async fn known<T: Tx>(tx: &mut T, run: RunId, proof: &Proof) -> Result<Option<Row>, StoreError> {
    let find = sql!(
        "SELECT r.token_hash, t.id, r.state, t.depth, t.spawn_depth FROM runs r JOIN tasks t ON t.id = r.task \
         WHERE r.id = $1",
        run,
    );
    let mut row = match (tx.query_one(find).await?, proof) {
        (Some(row), _) => row,
        (None, Proof::Token(_)) => return Err(StoreError::RunNotFound(run.to_string())),
        (None, Proof::Seen) => return Ok(None),
    };
    let hash = row.optional_text()?;
    match proof {
        Proof::Token(shown) if hash.as_ref() != Some(shown) => Err(StoreError::TokenRefused { run }),
        _ => Ok(Some(row)),
    }
}
