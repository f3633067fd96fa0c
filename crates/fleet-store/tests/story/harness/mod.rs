//! A store of its own for each scenario, a clock that only the scenario moves, and ids.

mod acts;
mod history;
pub(crate) mod place;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fleet_core::id::{IdKind, IdMaker, TaskId};
use fleet_core::task::TaskState;
use fleet_core::time::Millis;
use fleet_store::ops::NewTask;
use fleet_store::{Op, Store, StoreError};

pub(crate) use acts::{HERE, LEASE, checkout};
pub(crate) use place::{Engine, Place};

/// Makes two tests of each scenario: `name::sqlite` and `name::postgres`.
macro_rules! story {
    ($($scenario:ident)+) => {$(
        mod $scenario {
            use crate::harness::{Engine, Rig};

            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn sqlite() {
                Rig::tell(Engine::Sqlite, super::$scenario).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn postgres() {
                Rig::tell(Engine::Postgres, super::$scenario).await;
            }
        }
    )+};
}

/// A store and what a scenario needs to use it. Clones share everything.
#[derive(Clone)]
pub(crate) struct Rig {
    pub(crate) store: Store,
    shared: Arc<Shared>,
}

struct Shared {
    clock: AtomicI64,
    ids: Mutex<IdMaker>,
    entropy: AtomicU64,
    /// The last event that the scenario has looked at.
    seen: AtomicI64,
    /// Tasks that came with a state of their own, which no event tells.
    imported: Mutex<BTreeMap<TaskId, TaskState>>,
    place: Place,
}

/// Where every scenario's clock starts: some day in 2027.
pub(crate) const START: Millis = Millis(1_800_000_000_000);

impl Rig {
    /// Opens a fresh store, lets the scenario happen and looks whether everything still fits together.
    pub(crate) async fn tell(engine: Engine, scenario: impl AsyncFnOnce(&Self)) {
        let rig = Self::open(engine).await;
        scenario(&rig).await;
        rig.everything_fits().await;
    }

    pub(crate) async fn open(engine: Engine) -> Self {
        let place = Place::make(engine);
        let store = Store::open(&place.url()).await.expect("a fresh store");
        let shared = Shared {
            clock: AtomicI64::new(START.0),
            ids: Mutex::default(),
            entropy: AtomicU64::new(1),
            seen: AtomicI64::new(0),
            imported: Mutex::default(),
            place,
        };
        Self { store, shared: Arc::new(shared) }
    }

    pub(crate) fn place(&self) -> &Place {
        &self.shared.place
    }

    /// The same store, as another process would open it: connections, writer and bell of its own.
    pub(crate) async fn elsewhere(&self) -> Self {
        let store = Store::open(&self.place().url()).await.expect("the store once more");
        Self { store, shared: Arc::clone(&self.shared) }
    }

    pub(crate) fn now(&self) -> Millis {
        Millis(self.shared.clock.load(Ordering::SeqCst))
    }

    pub(crate) fn pass(&self, span: Duration) {
        let millis = i64::try_from(span.as_millis()).unwrap();
        self.shared.clock.fetch_add(millis, Ordering::SeqCst);
    }

    pub(crate) fn id<K: IdKind>(&self) -> K {
        let entropy = self.shared.entropy.fetch_add(1, Ordering::SeqCst);
        self.shared.ids.lock().unwrap().next(self.now(), entropy)
    }

    /// Says that these tasks will come with a state of their own.
    pub(crate) fn imported(&self, tasks: &[NewTask]) {
        self.shared.imported.lock().unwrap().extend(tasks.iter().map(|task| (task.id, task.state)));
    }

    /// Runs an operation that must succeed.
    pub(crate) async fn ok<O: Op>(&self, op: O) -> O::Out {
        self.store.call(op).await.expect("the operation succeeds")
    }

    /// Runs an operation that must fail, and sees that it changed nothing at all.
    pub(crate) async fn refused<O: Op>(&self, op: O) -> StoreError {
        let before = self.place().dump().await;
        let Err(error) = self.store.call(op).await else { panic!("the operation was not refused") };
        assert_eq!(self.place().dump().await, before, "a refused operation changed something: {error}");
        error
    }
}

/// Runs all at the same time; the answers in the order of the jobs.
pub(crate) async fn together<F>(jobs: impl IntoIterator<Item = F>) -> Vec<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    let running: Vec<_> = jobs.into_iter().map(tokio::spawn).collect();
    let mut answers = Vec::with_capacity(running.len());
    for job in running {
        answers.push(job.await.expect("the job does not panic"));
    }
    answers
}
