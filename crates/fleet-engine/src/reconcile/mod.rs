//! Repairs what a crash left on this machine.
//!
//! Owns the runs of this home whose keepers are gone: their agents are ended, their work is saved, their tasks go on.
//! Looking takes no arguments and knows no history: the start of a runner and every later look are the same path, and
//! any number of processes may do it at once. Acting is a process for each run (`repairs`), because what stopped a
//! keeper may stop its repair, too. Must never touch a run whose keeper is alive and well.

mod renewal;
mod repairs;
mod takeover;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::time::Duration;

use fleet_core::id::RunId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::project::Project;
use fleet_core::run::{Ending, Reason, Run};
use fleet_host::git::{Slot, SlotState};
use fleet_host::lock::Exclusive;
use fleet_host::plain;
use fleet_host::process::{Identity, Signal};
use fleet_store::{StoreError, ops};
use tokio::time::timeout;

use crate::closing::EndOfRun;
use crate::home::{Home, make_private};
use crate::keeper::blocking;
use crate::runner::registry;
use crate::{Engine, agents, clock, problems};

pub use repairs::{Repaired, Repairs, repair};

/// A claimed run whose keeper has not shown itself after this was never started.
const STARTING: Duration = Duration::from_secs(10);
/// A run elsewhere may be overdue by this many leases: its own machine checks first.
const ELSEWHERE: u32 = 2;
/// A keeper that is killed is gone at once, unless the machine is very busy.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);
/// Runners have more to do than to wait for a store that does not answer.
const STORE_TIMEOUT: Duration = Duration::from_secs(10);
/// What is said of a run that no keeper has worked on.
const NEVER_BEGAN: &str = "no keeper began to work on it";

/// What one look found.
#[derive(Debug, Default)]
pub struct ReconcileFindings {
    /// Runs whose keepers are gone, and which need a repair.
    pub due: Vec<RunId>,
    /// What could not be looked at, with a sentence each.
    pub trouble: Vec<String>,
    /// Runs of other machines whose leases ended.
    pub expired: usize,
    /// What the store thinks is at work here.
    pub live: Vec<Run>,
}

impl ReconcileFindings {
    fn take(&mut self, run: RunId, is_due: Outcome<bool>) {
        match is_due {
            Ok(true) => self.due.push(run),
            Ok(false) => {}
            Err(problem) => self.trouble.push(format!("run {run}: {problem}")),
        }
    }
}

pub struct Reconciler<'e> {
    engine: &'e Engine,
    home: Home,
    place: String,
    /// Since when a keeper that is alive has been late, by the clock that does not run while the machine sleeps.
    late: BTreeMap<RunId, Duration>,
}

impl<'e> Reconciler<'e> {
    pub fn new(engine: &'e Engine) -> Outcome<Self> {
        let home = engine.home().clone();
        let place = home.place().map_err(problems::at(home.root()))?;
        Ok(Self { engine, home, place, late: BTreeMap::new() })
    }

    pub fn place(&self) -> &str {
        &self.place
    }

    pub async fn look(&mut self) -> Outcome<ReconcileFindings> {
        let mut look = ReconcileFindings::default();
        let live = self.engine.call(ops::LiveRuns { place: self.place.clone() }).await?;
        let marked = self.marked()?;
        self.late.retain(|run, _| live.iter().any(|live| live.id == *run) || marked.contains(run));
        // One that cannot be looked at is no reason to leave the others as they are.
        for run in &live {
            let is_due = self.needs_help(run).await;
            look.take(run.id, is_due);
        }
        for run in marked {
            if !live.iter().any(|live| live.id == run) {
                let is_due = self.is_left(run).await;
                look.take(run, is_due);
            }
        }
        look.expired = self.expire().await?;
        look.live = live;
        Ok(look)
    }

    /// Whether a run that the store thinks is at work here has no keeper, or one that is stuck.
    async fn needs_help(&mut self, run: &Run) -> Outcome<bool> {
        if self.is_kept(run.id)? {
            return self.is_stuck(run).await;
        }
        let is_starting =
            run.keeper.is_none() && !self.home.live_run(run.id).exists() && self.is_starting(run)?;
        Ok(!is_starting)
    }

    /// Whether a run has ended in the store, and its keeper did not live to tidy up, or was stopped and does not notice.
    async fn is_left(&mut self, run: RunId) -> Outcome<bool> {
        if self.is_kept(run)? {
            return self.is_stopped(run);
        }
        Ok(!self.is_at_work_elsewhere(run).await?)
    }

    /// A keeper that stays stopped after its run was given up elsewhere would keep its workspace forever: it is killed.
    fn is_stopped(&mut self, run: RunId) -> Outcome<bool> {
        let Some(keeper) = keeper_at(&self.home, run).filter(Identity::is_stopped) else {
            self.late.remove(&run);
            return Ok(false);
        };
        Ok(self.is_late_for_long(run)? && keeper.signal(Signal::KILL).unwrap_or(false))
    }

    /// Whether a process holds the lock of a run: its keeper, or a repair.
    fn is_kept(&self, run: RunId) -> Outcome<bool> {
        let path = self.home.live_run(run);
        Exclusive::is_held(&path).map_err(problems::at(&path))
    }

    /// The runner that claimed it is about to start its keeper, or has just done so.
    fn is_starting(&self, run: &Run) -> Outcome<bool> {
        if clock::now().since(run.created_at) > STARTING {
            return Ok(false);
        }
        let up = registry::up(&self.home)?;
        Ok(up.iter().any(|runner| runner.name == run.runner))
    }

    /// A keeper that lives and does not renew is stuck, and is killed. It gets a second lease's time: a machine that
    /// wakes up finds all leases ended, and all keepers about to renew them.
    async fn is_stuck(&mut self, run: &Run) -> Outcome<bool> {
        if clock::now() < run.lease_until {
            self.late.remove(&run.id);
            return Ok(false);
        }
        if !self.is_late_for_long(run.id)? {
            return Ok(false);
        }
        let marked = keeper_at(&self.home, run.id);
        let known = || serde_json::from_str(run.keeper.as_deref()?).ok();
        let Some(keeper) = marked.or_else(known) else { return Ok(true) };
        if !keeper.is_alive() {
            // It is not who holds the lock: a repair acts for it, and renews.
            return Ok(false);
        }
        // One that is stopped cannot renew, and may hold its run locked in the store.
        let is_at_fault = keeper.is_stopped() || self.can_renew(run).await?;
        // Its lock is free the moment it is dead.
        Ok(is_at_fault && keeper.signal(Signal::KILL).unwrap_or(false))
    }

    /// Whether the lease of a run can be renewed. A store that refuses every process is not the keeper's fault, which
    /// notices by itself when that is over.
    async fn can_renew(&self, run: &Run) -> Outcome<bool> {
        let lease = self.engine.config()?.runner().lease;
        let renewal = ops::RenewLease { run: run.id, attempt: run.attempt, lease, now: clock::now() };
        match self.engine.store().await?.call(renewal).await {
            Ok(_) => Ok(true),
            // Another place was quicker.
            Err(StoreError::LeaseLost { .. }) => Ok(false),
            Err(error) => Err(problems::store(error)),
        }
    }

    /// Whether a keeper has been late for a lease's time, which then restarts.
    fn is_late_for_long(&mut self, run: RunId) -> Outcome<bool> {
        let (uptime, lease) = (clock::uptime(), self.engine.config()?.runner().lease);
        let since = *self.late.entry(run).or_insert(uptime);
        if uptime.saturating_sub(since) < lease {
            return Ok(false);
        }
        self.late.remove(&run);
        Ok(true)
    }

    /// Acts in place of a keeper that is gone; `None` when another repair does already, when the run is at work in
    /// another place, or when nothing could be done.
    pub async fn take_over(&self, id: RunId) -> Outcome<Option<String>> {
        if self.is_at_work_elsewhere(id).await? {
            return Ok(None);
        }
        let Some(lock) = self.lock(id, KILL_TIMEOUT).await? else { return Ok(None) };
        let gone = takeover::GoneKeeper { run: id, keeper: keeper_at(&self.home, id) };
        let closed = Box::pin(takeover::close(self.engine, &self.home, gone)).await?;
        if closed.is_clean {
            let _ = fs::remove_file(self.home.live_run(id));
        }
        drop(lock);
        Ok(closed.what)
    }

    async fn lock(&self, id: RunId, patience: Duration) -> Outcome<Option<Exclusive>> {
        let path = self.home.live_run(id);
        make_private(&self.home.live()).map_err(problems::at(&path))?;
        let waiting = path.clone();
        let lock = blocking(move || Exclusive::acquire(&waiting, patience)).await?;
        lock.map_err(problems::at(&path))
    }

    /// Gives a run back on which no keeper began to work: nothing of it is anywhere but in the store. False if one did.
    pub async fn give_back(&self, id: RunId) -> Outcome<bool> {
        let Some(lock) = self.lock(id, Duration::ZERO).await? else { return Ok(false) };
        let ops::RunDetail { run, project, .. } = self.engine.call(ops::GetRun { run: id }).await?;
        if run.keeper.is_some() || !run.state.is_live() || self.has_workspace(id, &project).await? {
            return Ok(false);
        }
        let ending = Ending::Released(NEVER_BEGAN.to_owned());
        self.end(&run, EndOfRun::without_result(&run, ending)).await?;
        let _ = fs::remove_file(self.home.live_run(id));
        drop(lock);
        Ok(true)
    }

    /// Whether a keeper opened a workspace, perhaps before the store knew of the keeper. One that cannot be looked at counts.
    async fn has_workspace(&self, id: RunId, project: &Project) -> Outcome<bool> {
        let (area, owner) = (self.home.area(project, self.engine.config()?), id.to_string());
        let is_its =
            move |slot: Slot| matches!(slot.state, SlotState::Claimed { owner: one, .. } if one == owner);
        let slots = blocking(move || area.slots()).await?;
        Ok(slots.map_or(true, |slots| slots.into_iter().any(is_its)))
    }

    /// Ends a run in the store alone, because the repair of its work hangs. The work stays as it is, and the repair is
    /// retried. False if a process acts for it now.
    pub async fn give_up(&self, id: RunId) -> Outcome<bool> {
        let Some(_lock) = self.lock(id, Duration::ZERO).await? else { return Ok(false) };
        let run = self.engine.call(ops::GetRun { run: id }).await?.run;
        if !run.state.is_live() {
            return Ok(true);
        }
        let noted = EndOfRun::noted(&self.home.run(id)).filter(|end| end.attempt == run.attempt);
        let place = run.workspace.as_deref().unwrap_or("its workspace");
        let why = format!("what the agent left could not be saved in time: it stays in {place}");
        let ending = Ending::Failed(Reason::WorkspaceFailed, why);
        self.end(&run, noted.unwrap_or_else(|| EndOfRun::without_result(&run, ending))).await.map(|()| true)
    }

    async fn end(&self, run: &Run, end: EndOfRun) -> Outcome<()> {
        let after = agents::after(self.engine, &run.agent).unwrap_or_default();
        let ended = timeout(STORE_TIMEOUT, end.record(self.engine.store().await?, &after)).await;
        ended.map_err(|_| Problem::new(Code::StoreBusy, "the store does not answer"))?.map(drop)
    }

    /// Whether a run is at work in another place. A home that was copied brings the marks of such runs along.
    async fn is_at_work_elsewhere(&self, run: RunId) -> Outcome<bool> {
        let run = match self.engine.call(ops::GetRun { run }).await {
            Ok(detail) => detail.run,
            Err(problem) if problem.code == Code::RunNotFound => return Ok(false),
            Err(problem) => return Err(problem),
        };
        let grace = self.engine.config()?.runner().lease * ELSEWHERE;
        let is_held = clock::now() < run.lease_until.plus(grace);
        Ok(run.state.is_live() && run.place != self.place && is_held)
    }

    /// Whether a keeper is at work here, even if only to tidy up after a run that has ended.
    pub fn is_any_kept(&self) -> Outcome<bool> {
        for run in self.marked()? {
            if self.is_kept(run)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The runs that are, or were, at work here.
    fn marked(&self) -> Outcome<Vec<RunId>> {
        let entries = match fs::read_dir(self.home.live()) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(problems::at(&self.home.live()))?,
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        Ok(names.filter_map(|name| name.parse().ok()).collect())
    }

    async fn expire(&self) -> Outcome<usize> {
        let grace = self.engine.config()?.runner().lease * ELSEWHERE;
        let expire = ops::ExpireLeases {
            elsewhere: Some(ops::OtherPlaces { here: self.place.clone(), grace }),
            limit: 100,
            after: agents::after(self.engine, self.engine.config()?.agent())?,
            jitter: clock::entropy()?,
            now: clock::now(),
        };
        Ok(self.engine.call(expire).await?.len())
    }
}

/// Who wrote the mark of a run.
fn keeper_at(home: &Home, run: RunId) -> Option<Identity> {
    serde_json::from_slice(&plain::read(&home.live_run(run)).ok()?).ok()
}
