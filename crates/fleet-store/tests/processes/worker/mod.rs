//! One process of many: it opens the store, does what its role says, and notes what it saw after the store
//! told it so.

mod add;
mod hold;
pub(crate) mod notes;
mod roles;
mod work;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fleet_core::id::{IdKind, IdMaker};
use fleet_core::time::Millis;
use fleet_store::{Op, Store, StoreError, StoreUrl};
use serde::{Deserialize, Serialize};

pub(crate) use crate::worker::add::label;
pub(crate) use crate::worker::notes::Dice;
use crate::worker::notes::Notes;
pub(crate) use crate::worker::work::used;

/// The test that a worker is, as the harness names it.
pub(crate) const ENTRY: &str = "worker::enter";

/// No worker outlives this, should nobody end it.
const LIFETIME: Duration = Duration::from_mins(4);

/// An interruption of the store is waited out for so long.
const INTERRUPTION: Duration = Duration::from_mins(1);

/// All that a worker is told, as JSON on its command line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Orders {
    /// The store.
    pub(crate) url: String,
    /// What to do.
    pub(crate) role: Role,
    /// Where notes are written and signals appear.
    pub(crate) folder: PathBuf,
    /// Unique in the folder.
    pub(crate) name: String,
    /// How long a claim holds unless renewed.
    pub(crate) lease: Duration,
    /// Whether an interruption of the store is waited out; it is an error otherwise.
    pub(crate) patient: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Role {
    /// Adds so many tasks.
    Add(usize),
    /// Claims and ends tasks until none is left.
    Work,
    /// Ends lost leases until told to stop.
    Expire,
    /// Follows the events after a number until told to stop.
    Tail(i64),
    /// Opens the store, and nothing else.
    Open,
    /// Opens the store, reads a little and sits still until told to stop.
    Sit,
    /// Does one task, and ends at once.
    Once,
    /// Claims a task, sits still until it is thawed, and then goes on as if nothing had happened.
    Hold,
    /// Adds and does tasks until told to stop.
    Churn,
    /// Reads all the time until told to stop.
    Read,
}

/// Files that tell all workers something by being there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// No task will be added any more: end when nothing is left.
    AllAdded,
    /// End now.
    Stop,
    /// Whoever was frozen goes on.
    Thaw,
}

impl Signal {
    fn path(self, folder: &Path) -> PathBuf {
        folder.join(match self {
            Self::AllAdded => "signal.all-added",
            Self::Stop => "signal.stop",
            Self::Thaw => "signal.thaw",
        })
    }

    pub(crate) fn give(self, folder: &Path) {
        fs::write(self.path(folder), "").unwrap();
    }

    fn is_given(self, folder: &Path) -> bool {
        self.path(folder).exists()
    }
}

/// Not a test: the beginning of every worker. Does nothing where there are no orders.
#[test]
fn enter() {
    let Some(orders) = std::env::args().find(|argument| argument.starts_with('{')) else { return };
    let orders: Orders = serde_json::from_str(&orders).unwrap();
    let name = orders.name.clone();
    let code = match crate::block_on(obey(orders)) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("{name}: {error} ({error:?})");
            1
        }
    };
    std::process::exit(code);
}

async fn obey(orders: Orders) -> Result<(), StoreError> {
    let mut worker = Worker::start(orders).await?;
    worker.notes.write(format_args!("opened"));
    match worker.orders.role.clone() {
        Role::Add(tasks) => add::add(&mut worker, tasks).await?,
        Role::Work => work::work(&mut worker).await?,
        Role::Expire => roles::expire(&mut worker).await?,
        Role::Tail(since) => roles::tail(&mut worker, since).await?,
        Role::Open => {}
        Role::Sit => roles::sit(&mut worker).await?,
        Role::Once => work::once(&mut worker).await?,
        Role::Hold => hold::hold(&mut worker).await?,
        Role::Churn => roles::churn(&mut worker).await?,
        Role::Read => roles::read(&mut worker).await?,
    }
    worker.notes.write(format_args!("slowest {} {}", worker.slowest.0.as_millis(), worker.slowest.1));
    Ok(())
}

struct Worker {
    store: Store,
    orders: Orders,
    notes: Notes,
    dice: Dice,
    ids: IdMaker,
    born: Instant,
    slowest: (Duration, &'static str),
}

pub(crate) fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Millis(i64::try_from(since.as_millis()).unwrap())
}

impl Worker {
    async fn start(orders: Orders) -> Result<Self, StoreError> {
        let url = StoreUrl::parse(&orders.url, &orders.folder).unwrap();
        let notes = Notes::begin(&orders.folder, &orders.name);
        let born = Instant::now();
        let store = loop {
            match Store::open(&url).await {
                Err(StoreError::Unreachable { .. }) if orders.patient && born.elapsed() < INTERRUPTION => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                opened => break opened?,
            }
        };
        let slowest = (born.elapsed(), "open");
        Ok(Self { store, orders, notes, dice: Dice::new(), ids: IdMaker::default(), born, slowest })
    }

    fn id<K: IdKind>(&mut self) -> K {
        self.ids.next(now(), self.dice.roll())
    }

    /// Runs an operation, and waits an interruption out if that is allowed. It may then have happened already.
    async fn call<O: Op + Clone>(&mut self, op: O) -> Result<O::Out, StoreError> {
        let begun = Instant::now();
        loop {
            let result = self.store.call(op.clone()).await;
            match result {
                Err(StoreError::Unreachable { why, .. }) if self.waits_out(begun) => {
                    self.notes.write(format_args!("unreachable {why}"));
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                result => {
                    self.slowest = self.slowest.max((begun.elapsed(), std::any::type_name::<O>()));
                    return result;
                }
            }
        }
    }

    fn waits_out(&self, since: Instant) -> bool {
        self.orders.patient && since.elapsed() < INTERRUPTION
    }

    fn told(&self, signal: Signal) -> bool {
        signal.is_given(&self.orders.folder)
    }

    /// Whether to go on; a worker that nobody ends fails in the end.
    fn goes_on(&self) -> bool {
        assert!(self.born.elapsed() < LIFETIME, "{} was forgotten", self.orders.name);
        !self.told(Signal::Stop)
    }
}
