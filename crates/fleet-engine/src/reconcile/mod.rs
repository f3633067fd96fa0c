//! Repairs what a crash left on this machine.
//!
//! Owns the runs of this home whose keepers are gone: their agents are ended, their work is put in safety, their
//! tasks go on. Takes no arguments and knows no history: the start of a runner and every later look are the same
//! path, and any number of processes may do it at once. Must never touch a run whose keeper is alive and well.

mod takeover;

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::time::Duration;

use fleet_core::id::RunId;
use fleet_core::problem::Outcome;
use fleet_core::run::Run;
use fleet_host::lock::Exclusive;
use fleet_host::process::{Identity, Signal};
use fleet_store::ops;

use crate::home::Home;
use crate::keeper::blocking;
use crate::runner::registry;
use crate::{Engine, agents, clock, problems};

/// A claimed run whose keeper has not shown itself after this was never started.
const STARTING: Duration = Duration::from_secs(10);
/// Whoever holds a run elsewhere has so many leases' time after the end of its lease: its own machine looks first.
const ELSEWHERE: u32 = 2;
/// A keeper that is killed is gone at once, unless the machine is very busy.
const KILL_PATIENCE: Duration = Duration::from_secs(10);

/// What one look did.
#[derive(Debug, Default)]
pub struct Repaired {
    /// Runs whose keepers were gone, with a sentence each.
    pub runs: Vec<(RunId, String)>,
    /// What could not be repaired, with a sentence each; it will be tried again.
    pub trouble: Vec<String>,
    /// Runs of other machines whose leases ended.
    pub expired: usize,
    /// What the store thought was at work here before.
    pub live: Vec<Run>,
}

impl Repaired {
    fn take(&mut self, run: RunId, done: Outcome<Option<String>>) {
        match done {
            Ok(Some(what)) => self.runs.push((run, what)),
            Ok(None) => {}
            Err(problem) => self.trouble.push(format!("run {run}: {}", problem.message)),
        }
    }
}

/// What is known about a keeper that is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Witness {
    /// Only what is written down.
    Nobody,
    /// The runner that started it has seen its end.
    Runner,
}

/// Looks after the runs of this home.
pub struct Reconciler<'e> {
    engine: &'e Engine,
    home: Home,
    place: String,
    /// Since when a keeper that is alive has been late, by the clock that does not run while the machine sleeps.
    late: BTreeMap<RunId, Duration>,
}

impl<'e> Reconciler<'e> {
    /// For the home of this engine.
    pub fn new(engine: &'e Engine) -> Outcome<Self> {
        let home = Home::new(engine.home());
        let place = home.place().map_err(|error| problems::io(home.root(), &error))?;
        Ok(Self { engine, home, place, late: BTreeMap::new() })
    }

    /// Which home on which machine this is.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Looks at everything once.
    pub async fn look(&mut self) -> Outcome<Repaired> {
        let mut repaired = Repaired::default();
        let live = self.engine.call(ops::LiveRuns { place: self.place.clone() }).await?;
        self.late.retain(|run, _| live.iter().any(|live| live.id == *run));
        // One that cannot be repaired is no reason to leave the others as they are.
        for run in &live {
            let done = self.live(run).await;
            repaired.take(run.id, done);
        }
        for run in self.marked()? {
            if live.iter().any(|live| live.id == run) {
                continue;
            }
            let done = self.leftover(run).await;
            repaired.take(run, done);
        }
        repaired.expired = self.expire().await?;
        repaired.live = live;
        Ok(repaired)
    }

    /// A run that the store thinks is at work here.
    async fn live(&mut self, run: &Run) -> Outcome<Option<String>> {
        let path = self.home.live_run(run.id);
        if Exclusive::is_held(&path).map_err(|error| problems::io(&path, &error))? {
            return self.late(run).await;
        }
        if run.keeper.is_none() && !path.exists() && self.is_starting(run)? {
            return Ok(None);
        }
        self.take_over(run.id, Witness::Nobody).await
    }

    /// The runner that claimed it is about to start its keeper, or has just done so.
    fn is_starting(&self, run: &Run) -> Outcome<bool> {
        if clock::now().since(run.created_at) > STARTING {
            return Ok(false);
        }
        let up = registry::up(&self.home).map_err(|error| problems::io(&self.home.runners(), &error))?;
        Ok(up.iter().any(|runner| runner.name == run.runner))
    }

    /// A keeper that lives and does not renew is stuck. It gets a second lease's time: a machine that wakes up
    /// finds all leases ended, and all keepers about to renew them.
    async fn late(&mut self, run: &Run) -> Outcome<Option<String>> {
        if clock::now() < run.lease_until {
            self.late.remove(&run.id);
            return Ok(None);
        }
        let uptime = clock::uptime();
        let since = *self.late.entry(run.id).or_insert(uptime);
        if uptime.saturating_sub(since) < self.engine.config()?.runner().lease {
            return Ok(None);
        }
        self.late.remove(&run.id);
        // Can anybody renew it? A store that refuses everybody is no fault of the keeper, which will find out by
        // itself when that is over.
        let lease = self.engine.config()?.runner().lease;
        let renewal = ops::RenewLease { run: run.id, fence: run.fence, lease, now: clock::now() };
        self.engine.call(renewal).await?;
        let path = self.home.live_run(run.id);
        let marked: Option<Identity> = serde_json::from_slice(&fs::read(&path).unwrap_or_default()).ok();
        let known = || serde_json::from_str(run.keeper.as_deref()?).ok();
        if let Some(keeper) = marked.or_else(known) {
            // Its lock is free the moment it is dead.
            let _ = keeper.signal(Signal::KILL);
        }
        self.take_over(run.id, Witness::Nobody).await
    }

    /// Acts in the place of a keeper that is gone; `None` when somebody else does already, or nothing could be done.
    pub async fn take_over(&self, id: RunId, witness: Witness) -> Outcome<Option<String>> {
        let path = self.home.live_run(id);
        crate::home::make_private(&self.home.live()).map_err(|error| problems::io(&path, &error))?;
        let waiting = path.clone();
        let lock = blocking(move || Exclusive::acquire(&waiting, KILL_PATIENCE)).await?;
        let Some(lock) = lock.map_err(|error| problems::io(&path, &error))? else { return Ok(None) };
        let keeper = serde_json::from_slice(&fs::read(&path).unwrap_or_default()).ok();
        let gone = takeover::GoneKeeper { run: id, keeper, witness };
        let closed = Box::pin(takeover::close(self.engine, &self.home, gone)).await?;
        if closed.is_clean {
            let _ = fs::remove_file(&path);
        }
        drop(lock);
        Ok(closed.what)
    }

    /// A run that has ended in the store, and whose keeper did not live to tidy up.
    async fn leftover(&self, run: RunId) -> Outcome<Option<String>> {
        let path = self.home.live_run(run);
        if Exclusive::is_held(&path).map_err(|error| problems::io(&path, &error))? {
            return Ok(None);
        }
        self.take_over(run, Witness::Nobody).await
    }

    /// Whether a keeper is at work here, be it only to tidy up after a run that has ended.
    pub fn is_any_kept(&self) -> Outcome<bool> {
        for run in self.marked()? {
            let path = self.home.live_run(run);
            if Exclusive::is_held(&path).map_err(|error| problems::io(&path, &error))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The runs that are, or were, at work here.
    fn marked(&self) -> Outcome<Vec<RunId>> {
        let entries = match fs::read_dir(self.home.live()) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|error| problems::io(&self.home.live(), &error))?,
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        Ok(names.filter_map(|name| name.parse().ok()).collect())
    }

    async fn expire(&self) -> Outcome<usize> {
        let grace = self.engine.config()?.runner().lease * ELSEWHERE;
        let expire = ops::ExpireLeases {
            elsewhere: Some(ops::Elsewhere { here: self.place.clone(), grace }),
            limit: 100,
            after: agents::after(self.engine, self.engine.config()?.agent())?,
            jitter: clock::entropy()?,
            now: clock::now(),
        };
        Ok(self.engine.call(expire).await?.len())
    }
}
