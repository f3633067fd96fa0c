//! Cancelling work, wherever it is.
//!
//! A task that waits is cancelled in the store. A run is stopped by its keeper, which alone can save the work; a run whose
//! keeper is gone is closed in its place. Must never kill a process of a run itself, and never say that something has
//! ended before it has.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fleet_core::id::{RunId, TaskId};
use fleet_core::problem::Outcome;
use fleet_core::run::{Run, RunState, StopKind, StopRequest};
use fleet_core::task::{Remark, Task, TaskMove};
use fleet_core::time::Span;
use fleet_host::lock::Exclusive;
use fleet_host::process::{Identity, Signal};
use fleet_store::{Store, StoreError, ops};

use crate::home::Home;
use crate::lost_keeper::LostKeeper;
use crate::reconcile::Reconciler;
use crate::{Engine, clock, problems};

#[derive(Debug, Clone)]
pub(crate) struct CancelRequest {
    pub(crate) remark: Option<Remark>,
    /// The reason if none was given.
    pub(crate) otherwise: &'static str,
    /// How long to wait for runs to end; `None` for as long as a keeper that is well may take.
    pub(crate) patience: Option<Duration>,
    pub(crate) until: StopUntil,
}

/// What a caller that stops a run waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopUntil {
    /// Nothing of the run is left but its branch and its folder.
    Tidy,
    /// Its agent is gone and its work is saved. What is tidy within a moment is waited for all the same: that is
    /// most of them, and only large repositories take longer.
    Safe,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoppedTask {
    /// It had no run and was cancelled.
    Cancelled,
    Stopped,
    /// Its agent was stopped and its work is saved; its keeper commits it and tidies up.
    Tidying,
    /// It had ended before.
    Over,
    GoesOn(String),
}

#[derive(Debug, Clone)]
pub(crate) struct CancelledTask {
    pub(crate) task: TaskId,
    /// The run that was at work.
    pub(crate) run: Option<RunId>,
    pub(crate) fate: StoppedTask,
}

/// Beyond the time that an agent gets to end by itself: for snapshots of large trees, and busy machines.
const SLACK: Duration = Duration::from_mins(1);
/// The end of a keeper changes nothing in the store, so it wakes no waiter.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// A run whose work is saved has this long to be tidy as well, counted from the request to stop.
const TIDY_GRACE: Duration = Duration::from_millis(200);
/// More runs than any fleet has at work.
const MAX_LIVE: i64 = 100_000;
/// A run can end and the next one begin while we look; more than twice in a row it cannot.
const MAX_ROUNDS: usize = 3;

/// Ends the work on these tasks. Nothing at all is changed when one of them is over already.
pub(crate) async fn cancel_all(
    engine: &Engine,
    tasks: &[TaskId],
    request: &CancelRequest,
) -> Outcome<Vec<CancelledTask>> {
    let idle = tasks.iter().map(|id| idle(*id, request)).collect();
    let cancelled = engine.call(ops::All(idle)).await?;
    let running = tasks.iter().zip(&cancelled).filter(|(_, done)| done.is_none()).map(|(id, _)| *id);
    let mut all = cancel(engine, &running.collect::<Vec<_>>(), request).await?;
    let done = cancelled.into_iter().flatten();
    all.extend(done.map(|task: Task| CancelledTask {
        task: task.id,
        run: None,
        fate: StoppedTask::Cancelled,
    }));
    Ok(all)
}

/// Ends the work on these tasks; one that comes to an end by itself meanwhile is left as it is.
pub(crate) async fn cancel(
    engine: &Engine,
    tasks: &[TaskId],
    request: &CancelRequest,
) -> Outcome<Vec<CancelledTask>> {
    let mut fates: BTreeMap<TaskId, CancelledTask> = BTreeMap::new();
    let mut open = tasks.to_vec();
    for round in 0..MAX_ROUNDS {
        let running = cancel_idle(engine, &open, request, &mut fates).await?;
        if running.is_empty() {
            break;
        }
        let live = live_runs(engine).await?;
        let runs: Vec<Run> = live.into_values().filter(|run| running.contains(&run.task)).collect();
        let going_on = stop_runs(engine, &runs, request).await?;
        for run in &runs {
            let fate = match going_on.get(&run.id) {
                Some(why) => StoppedTask::GoesOn(why.clone()),
                None => ended(engine, run.id).await?,
            };
            fates.insert(run.task, CancelledTask { task: run.task, run: Some(run.id), fate });
        }
        // A run that ended in another way may have put its task back into the queue.
        let again =
            |task: &TaskId| fates.get(task).is_none_or(|cancelled| cancelled.fate == StoppedTask::Over);
        open = running.into_iter().filter(again).collect();
        if open.is_empty() || round + 1 == MAX_ROUNDS {
            break;
        }
    }
    let unclear = |task: &TaskId| CancelledTask {
        task: *task,
        run: None,
        fate: StoppedTask::GoesOn("it starts again and again".to_owned()),
    };
    Ok(tasks.iter().map(|task| fates.remove(task).unwrap_or_else(|| unclear(task))).collect())
}

fn idle(id: TaskId, request: &CancelRequest) -> ops::CancelIdle {
    ops::CancelIdle { id, remark: request.remark.clone(), now: clock::now() }
}

/// Cancels those that are not running; returns the others.
async fn cancel_idle(
    engine: &Engine,
    tasks: &[TaskId],
    request: &CancelRequest,
    fates: &mut BTreeMap<TaskId, CancelledTask>,
) -> Outcome<Vec<TaskId>> {
    let store = engine.store().await?;
    let mut running = Vec::new();
    // Mostly all can go together; one that cannot must not keep the others.
    let together = store.call(ops::All(tasks.iter().map(|id| idle(*id, request)).collect())).await;
    let each: Vec<Result<Option<Task>, StoreError>> = match together {
        Ok(all) => all.into_iter().map(Ok).collect(),
        Err(StoreError::Illegal { .. } | StoreError::TaskNotFound(_)) => {
            one_by_one(store, tasks, request).await
        }
        Err(error) => return Err(problems::store(error)),
    };
    for (id, done) in tasks.iter().zip(each) {
        let fate = match done {
            Ok(None) => {
                running.push(*id);
                continue;
            }
            Ok(Some(_)) => StoppedTask::Cancelled,
            Err(StoreError::Illegal { .. } | StoreError::TaskNotFound(_)) => StoppedTask::Over,
            Err(error) => return Err(problems::store(error)),
        };
        let run = fates.get(id).and_then(|cancelled| cancelled.run);
        fates.insert(*id, CancelledTask { task: *id, run, fate });
    }
    Ok(running)
}

async fn one_by_one(
    store: &Store,
    tasks: &[TaskId],
    request: &CancelRequest,
) -> Vec<Result<Option<Task>, StoreError>> {
    let mut each = Vec::with_capacity(tasks.len());
    for id in tasks {
        each.push(store.call(idle(*id, request)).await);
    }
    each
}

async fn live_runs(engine: &Engine) -> Outcome<BTreeMap<RunId, Run>> {
    let filter = ops::RunFilter { live_only: true, ..Default::default() };
    let live = engine.call(ops::ListRuns { filter, limit: MAX_LIVE }).await?;
    Ok(live.into_iter().map(|listed| (listed.run.id, listed.run)).collect())
}

async fn ended(engine: &Engine, run: RunId) -> Outcome<StoppedTask> {
    let state = engine.call(ops::GetRun { run }).await?.run.state();
    Ok(match state {
        RunState::Cancelled => StoppedTask::Stopped,
        RunState::Finishing => StoppedTask::Tidying,
        _ => StoppedTask::Over,
    })
}

/// Stops runs and waits for their ends; returns those that go on, and why.
async fn stop_runs(
    engine: &Engine,
    runs: &[Run],
    request: &CancelRequest,
) -> Outcome<BTreeMap<RunId, String>> {
    let config = engine.config()?;
    let usual = config.limits().stop_grace + config.runner().lease + SLACK;
    let patience = request.patience.unwrap_or(usual);
    let why = request.remark.as_ref().map_or(request.otherwise, |remark| remark.as_str());
    for run in runs {
        let stop = StopRequest { kind: StopKind::Cancel, why: why.to_owned() };
        let asked =
            engine.store().await?.call(ops::RequestStop { run: run.id, stop, now: clock::now() }).await;
        match asked {
            // What has ended in between is found below.
            Ok(_) | Err(StoreError::IllegalRun { .. } | StoreError::RunNotFound(_)) => {}
            Err(error) => return Err(problems::store(error)),
        }
    }
    let mut watcher = StopWatcher {
        engine,
        home: engine.home().clone(),
        reconciler: Reconciler::new(engine)?,
        nudged: BTreeSet::new(),
        safe_from: (request.until == StopUntil::Safe).then(|| clock::uptime() + TIDY_GRACE),
    };
    let watch = engine.store().await?.watch().await.map_err(problems::store)?;
    let deadline = clock::uptime() + patience;
    let mut open: Vec<&Run> = runs.iter().collect();
    loop {
        let live = live_runs(engine).await?;
        let mut going_on = BTreeMap::new();
        let mut rest = Vec::new();
        for run in open {
            if let StopProgress::Waits(why) = watcher.check(run, live.get(&run.id)).await {
                let waited = Span(Duration::from_secs(patience.as_secs()));
                going_on.insert(run.id, why.unwrap_or_else(|| format!("it has not ended after {waited}")));
                rest.push(run);
            }
        }
        open = rest;
        if open.is_empty() || clock::uptime() >= deadline {
            return Ok(going_on);
        }
        let moment = watcher.safe_from.map_or(POLL_INTERVAL, |from| from.saturating_sub(clock::uptime()));
        watch.changed(if moment.is_zero() { POLL_INTERVAL } else { moment.min(POLL_INTERVAL) }).await;
    }
}

struct StopWatcher<'e> {
    engine: &'e Engine,
    home: Home,
    reconciler: Reconciler<'e>,
    nudged: BTreeSet<RunId>,
    /// From when on it is enough that a run is safe.
    safe_from: Option<Duration>,
}

enum StopProgress {
    /// Nothing of it is left but its branch and its folder, or nothing else is waited for.
    Ended,
    Waits(Option<String>),
}

impl StopWatcher<'_> {
    async fn check(&mut self, run: &Run, live: Option<&Run>) -> StopProgress {
        let progress = if run.place == self.reconciler.place() {
            self.here(run, live).await
        } else {
            self.elsewhere(live).await
        };
        progress.unwrap_or_else(|problem| StopProgress::Waits(Some(problem.to_string())))
    }

    async fn here(&mut self, run: &Run, live: Option<&Run>) -> Outcome<StopProgress> {
        let mark = self.home.live_run(run.id);
        if Exclusive::is_held(&mark).map_err(problems::at(&mark))? {
            // Only a keeper that told its name listens to nudges already.
            let keeper = live.and_then(|run| run.keeper.as_deref());
            if keeper.is_some() && self.nudged.insert(run.id) {
                wake_keeper(keeper);
            }
            if self.is_safe(run.id, live) {
                return Ok(StopProgress::Ended);
            }
            return Ok(StopProgress::Waits(
                live.and_then(|run| Some(LostKeeper::of(&self.home, run)?.to_string())),
            ));
        }
        if live.is_none() && !mark.exists() {
            return Ok(StopProgress::Ended);
        }
        // A keeper that is only now being started finds that everything is done.
        let taken = self.reconciler.take_over(run.id).await?;
        // The caller does not wait for a workspace that cannot be tidied up now.
        Ok(if taken.is_some() || live.is_none() { StopProgress::Ended } else { StopProgress::Waits(None) })
    }

    /// Whether its agent has ended after its work was saved, and no caller waits for more.
    fn is_safe(&self, run: RunId, live: Option<&Run>) -> bool {
        self.safe_from.is_some_and(|from| clock::uptime() >= from)
            && live.is_some_and(|live| live.state == RunState::Finishing)
            && self.home.run(run).saved().exists()
    }

    /// A keeper elsewhere learns of it at its next renewal. One that no longer renews does not: then the run ends in
    /// the store alone, and the runner of that place cleans up.
    async fn elsewhere(&self, live: Option<&Run>) -> Outcome<StopProgress> {
        let Some(run) = live else { return Ok(StopProgress::Ended) };
        if clock::now() < run.lease_until {
            return Ok(StopProgress::Waits(None));
        }
        let cancel = ops::MoveTask { id: run.task, event: TaskMove::Cancel, remark: None, now: clock::now() };
        match self.engine.store().await?.call(cancel).await {
            Ok(_) | Err(StoreError::Illegal { .. } | StoreError::TaskNotFound(_)) => Ok(StopProgress::Ended),
            Err(error) => Err(problems::store(error)),
        }
    }
}

/// Makes a keeper on this machine read its orders now instead of at its next renewal.
pub(crate) fn wake_keeper(keeper: Option<&str>) {
    let keeper: Option<Identity> = keeper.and_then(|text| serde_json::from_str(text).ok());
    if let Some(keeper) = keeper {
        let _ = keeper.signal(Signal::USR1);
    }
}
