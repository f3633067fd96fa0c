//! The runner: claims tasks and starts a keeper for each.
//!
//! Owns the slots of one process. Must never hold anything that is not in the store or on disk: it may be killed at
//! any instant, and the next one goes on.

mod autostart;
mod claim;
mod end;
mod hand_over;
mod offer;
pub mod registry;
mod relay;
mod room;
mod scope;
mod settings;
mod spare;
mod startable;
mod starts;
mod unattended;
mod unclaimed;

use std::time::Duration;

use fleet_core::id::{RunId, TaskId};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::run::Run;
use fleet_core::task::TaskMode;
use fleet_host::git::{self, Pace};
use fleet_host::machine;
use fleet_host::process::{self, Exit, Identity};
use fleet_store::{Store, Watch, ops};
use serde::Serialize;
use tokio::task::JoinHandle;

use crate::config::Config;
use crate::reconcile::{Reconciler, Repaired, Repairs};
use crate::verbs::question;
use crate::{BoxFuture, Engine, clock, fault, lost_keeper, problems};
use end::EndSignals;
use offer::Offer;
use registry::{Registered, Runner};
use relay::Relay;
use room::Room;
use settings::LiveSettings;
use spare::SpareWorkspaces;
use starts::Starts;
use unclaimed::Unclaimed;

pub use autostart::{autostart, start_in_background};
pub(crate) use claim::able;
pub use claim::can_start;
pub(crate) use end::any_signal;
pub(crate) use offer::GONE_AFTER;
pub(crate) use startable::{Startable, needs};
pub(crate) use unattended::find_unattended;
pub use unattended::unattended;

#[derive(Debug, Clone, Copy, Default)]
pub struct Request {
    /// How many agents at a time; the configured number otherwise.
    pub slots: Option<u32>,
    /// Run as the one background runner.
    pub background: bool,
    /// End when nothing runs here and nothing is ready.
    pub until_idle: bool,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunnerNotice {
    Up(Runner),
    Started {
        task: TaskId,
        title: String,
        run: RunId,
        agent: String,
    },
    Repaired(RunId, String),
    /// Something went wrong and will be tried again.
    Trouble(String),
    /// It takes no more work; this many runs go on.
    Leaving(usize),
}

/// How often the queue is checked without a notification.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
const REPAIR_INTERVAL: Duration = Duration::from_secs(5);
/// How fast the trash is emptied. File systems are slow for others after many files were deleted at once.
const TRASH_PACE: Pace = Pace { at_most: 20_000, pause_every: 500, pause: Duration::from_millis(50) };
const TROUBLE_PAUSE: Duration = Duration::from_secs(2);

/// Runs until it is asked to end. A second runner in the background ends at once.
pub fn run<'a>(
    engine: &'a Engine,
    request: Request,
    tell: &'a mut dyn FnMut(RunnerNotice),
) -> BoxFuture<'a, Outcome<()>> {
    Box::pin(serve(engine, request, tell))
}

async fn serve(engine: &Engine, request: Request, tell: &mut dyn FnMut(RunnerNotice)) -> Outcome<()> {
    engine.check_outside()?;
    let home = engine.home();
    home.check_ours()?;
    let settings = LiveSettings::of(engine);
    let config = engine.config()?;
    let runner = Runner {
        name: registry::new_name(clock::entropy()?),
        process: Identity::current(),
        slots: request.slots.unwrap_or_else(|| configured_slots(config)),
        terminals: configured_terminals(config),
        background: request.background,
        started_at: clock::now(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        outdated: false,
        shortage: None,
    };
    let registered = registry::register(home, runner)?;
    let Some(registered) = registered else { return Ok(()) };
    tell(RunnerNotice::Up(registered.runner.clone()));
    // Before there is a keeper: they are born where their runner is.
    scope::enter(engine.environment()).await?;
    engine.join_project().await;
    let mut end = EndSignals::listen()?;
    let watch = tokio::select! {
        watch = watch(engine) => watch?,
        () = end.asked() => return Ok(()),
    };
    let relay = Relay::start(engine.store().await?.clone())
        .map_err(|error| Problem::new(Code::Internal, format!("cannot serve keepers: {error}")))?;
    let mut active = ActiveRunner {
        engine,
        relay,
        settings,
        has_own_slots: request.slots.is_some(),
        reconciler: Reconciler::new(engine)?,
        repairs: Repairs::new(engine),
        starts: Starts::default(),
        registered,
        keepers: Vec::new(),
        adopted: Room::default(),
        repaired: None,
        sweeping: None,
        numbering: None,
        claimed_nothing_at: None,
        unclaimed: Unclaimed::default(),
        offer: Offer::default(),
        spare: SpareWorkspaces::new(),
    };
    // A runner that is not listed any more could not be found and stopped; the next one takes over.
    while home.root().exists() && active.registered.is_seen() {
        let Some(turn) = end.unless_asked_to_end(Box::pin(active.work(tell))).await else { break };
        let pause = match turn {
            Ok(RunnerTurn::Idle) if request.until_idle && active.is_tidy().await => break,
            Ok(RunnerTurn::Idle | RunnerTurn::Busy) => POLL_INTERVAL,
            Err(problem) => {
                tell(RunnerNotice::Trouble(problem.to_string()));
                // What fails may have been changed by a newer version.
                if let Ok(Some(newer)) = engine.call(ops::NewerSchema).await {
                    active.retire(newer, tell);
                }
                TROUBLE_PAUSE
            }
        };
        if active.registered.runner.outdated && active.busy() == 0 {
            break;
        }
        tokio::select! {
            () = watch.changed(pause) => {}
            asked = end.next() => if asked { break },
        }
    }
    tell(RunnerNotice::Leaving(active.busy()));
    active.offer.withdraw(engine).await;
    Ok(())
}

async fn watch(engine: &Engine) -> Outcome<Watch> {
    engine.store().await?.watch().await.map_err(problems::store)
}

#[derive(Debug, PartialEq, Eq)]
enum RunnerTurn {
    /// Nothing runs here and nothing is ready.
    Idle,
    /// Something runs or may run.
    Busy,
}

struct ActiveRunner<'e> {
    engine: &'e Engine,
    relay: Relay,
    /// As they are now, for what is claimed.
    settings: LiveSettings,
    /// Whether its slots were given when it was started: then no setting changes them.
    has_own_slots: bool,
    reconciler: Reconciler<'e>,
    repairs: Repairs<'e>,
    starts: Starts,
    registered: Registered,
    keepers: Vec<KeptRun>,
    /// Runs that an earlier runner started.
    adopted: Room,
    repaired: Option<Duration>,
    /// Set while the trash is being emptied.
    sweeping: Option<JoinHandle<()>>,
    /// Set while new events are being numbered.
    numbering: Option<JoinHandle<()>>,
    /// When tasks were ready, and none of them could be claimed.
    claimed_nothing_at: Option<Duration>,
    unclaimed: Unclaimed,
    offer: Offer,
    spare: SpareWorkspaces,
}

fn configured_slots(config: &Config) -> u32 {
    u32::try_from(config.runner().slots(machine::cores())).unwrap_or(u32::MAX)
}

fn configured_terminals(config: &Config) -> u32 {
    u32::try_from(config.runner().terminals).unwrap_or(u32::MAX)
}

/// A run whose keeper this runner started.
struct KeptRun {
    keeper: Identity,
    run: RunId,
    mode: TaskMode,
}

impl ActiveRunner<'_> {
    /// What the runs that are at work here take.
    fn taken(&self) -> Room {
        Room::taken(self.keepers.iter().map(|kept| kept.mode)).plus(self.adopted)
    }

    /// How many runs are at work here. One that waits for a person in its terminal is one of them.
    fn busy(&self) -> usize {
        self.taken().total()
    }

    fn free(&self) -> Room {
        let Runner { slots, terminals, .. } = self.registered.runner;
        Room { slots: slots as usize, terminals: terminals as usize }.without(self.taken())
    }

    async fn work(&mut self, tell: &mut dyn FnMut(RunnerNotice)) -> Outcome<RunnerTurn> {
        let now = clock::uptime();
        self.take_note_of_ends(tell).await;
        // What an agent asked must not keep others from being started and repaired.
        if let Err(problem) = question::answer_due(self.engine).await {
            tell(RunnerNotice::Trouble(format!("a question is not answered by its default: {problem}")));
        }
        self.refresh_settings(tell);
        if self.repaired.is_none_or(|last| now.saturating_sub(last) >= REPAIR_INTERVAL) {
            self.repaired = Some(now);
            self.repair(tell).await?;
            let engine = self.settings.engine(self.engine);
            self.offer.publish(engine).await?;
            self.spare.trim(engine, self.registered.runner.slots as usize).await?;
        }
        let Some((only, most)) = self.free().to_claim() else { return Ok(RunnerTurn::Busy) };
        let most = self.starts.allowed(most, now);
        if most == 0 || self.registered.runner.outdated {
            return Ok(RunnerTurn::Busy);
        }
        let claimed = self.claim((only, most), tell).await?;
        if !claimed.is_empty() {
            fault::point(self.engine, "runner-claimed").await;
        }
        for claim in &claimed {
            // One that cannot be started must not keep the others of the same claim from it.
            if let Err(problem) = self.start(claim, tell) {
                self.look_after(claim.run.id, &problem.to_string(), tell).await;
            }
        }
        let is_short = self.registered.runner.shortage.is_some();
        let idle = claimed.is_empty() && self.busy() == 0 && !is_short;
        Ok(if idle { RunnerTurn::Idle } else { RunnerTurn::Busy })
    }

    /// Whether nothing is left that a repair would set going again.
    async fn is_tidy(&mut self) -> bool {
        let Ok(look) = self.reconciler.look().await else { return false };
        self.repairs.begin_all(&look.due);
        let is_hopeless = |run: &RunId| self.repairs.is_failing(*run);
        look.live.is_empty() && look.due.iter().all(is_hopeless) && !self.repairs.is_any_under_way()
    }

    /// Starts repairs of runs whose keepers have ended without tidying up, and collects the results of repairs.
    async fn take_note_of_ends(&mut self, tell: &mut dyn FnMut(RunnerNotice)) {
        let ended = process::reap();
        for done in self.repairs.ended(&ended, &self.reconciler).await {
            tell(match done {
                Repaired::Done(run, what) => RunnerNotice::Repaired(run, what),
                Repaired::Trouble(what) => RunnerNotice::Trouble(what),
            });
        }
        for (run, exit) in self.vanished(&ended) {
            self.look_after(run, &format!("its keeper {exit}"), tell).await;
        }
    }

    /// Forgets the keepers that have ended, and returns the runs of those that did not live to tidy up. One that was
    /// killed at once has left no mark: how it ended tells.
    fn vanished(&mut self, ended: &[(i32, Exit)]) -> Vec<(RunId, Exit)> {
        let mut vanished = Vec::new();
        self.keepers.retain(|KeptRun { keeper, run, .. }| {
            let Some((_, exit)) = ended.iter().find(|(pid, _)| *pid == keeper.pid) else { return true };
            if *exit != Exit::Code(0) || self.engine.home().live_run(*run).exists() {
                vanished.push((*run, *exit));
            } else {
                self.starts.begun();
            }
            false
        });
        vanished
    }

    /// Gives back a run whose keeper never began, which is not the task's fault; any other is repaired.
    async fn look_after(&mut self, run: RunId, why: &str, tell: &mut dyn FnMut(RunnerNotice)) {
        match self.reconciler.give_back(run).await {
            Ok(true) => {
                let pause = self.starts.failed(clock::uptime()).as_secs();
                let log = self.engine.home().run(run).keeper_log();
                tell(RunnerNotice::Trouble(format!(
                    "agents cannot be started here: run {run} never began ({why}; {}). Its task went back to \
                     the queue, and is retried in {pause} s",
                    log.display()
                )));
            }
            Ok(false) => {
                self.repairs.begin(run).into_iter().for_each(|what| tell(RunnerNotice::Trouble(what)));
            }
            Err(problem) => tell(RunnerNotice::Trouble(problem.to_string())),
        }
    }

    async fn repair(&mut self, tell: &mut dyn FnMut(RunnerNotice)) -> Outcome<()> {
        let look = self.reconciler.look().await?;
        for what in look.trouble.into_iter().chain(self.repairs.begin_all(&look.due)) {
            tell(RunnerNotice::Trouble(what));
        }
        self.sweep();
        let store = self.engine.store().await?.clone();
        self.number_events(store);
        let up = registry::up(self.engine.home()).unwrap_or_default();
        let is_mine = |run: &Run| run.runner == self.registered.runner.name;
        if look.live.iter().any(|run| is_mine(run) && run.keeper.is_some()) {
            self.starts.begun();
        }
        // Without its keeper a run has no agent any more, and takes no slot, however long its repair may take.
        let is_adopted = |run: &&Run| {
            let is_alone = !is_mine(run) && !up.iter().any(|runner| runner.name == run.runner);
            is_alone && !look.due.contains(&run.id) && !lost_keeper::is_gone(run)
        };
        self.adopted = Room::taken(look.live.iter().filter(is_adopted).map(|run| run.mode));
        Ok(())
    }

    /// Takes no more tasks: their keepers could not open the store.
    fn retire(&mut self, newer: i64, tell: &mut dyn FnMut(RunnerNotice)) {
        if self.registered.runner.outdated {
            return;
        }
        self.registered.retire();
        tell(RunnerNotice::Trouble(format!(
            "a newer codefleet has updated the store (schema {newer}): this runner starts no more agents, and \
             ends when the running ones have; update codefleet here, then `fleet start`"
        )));
    }

    /// Numbers new events in the background, so that a reader after a long silence need not wait.
    fn number_events(&mut self, store: Store) {
        if self.numbering.as_ref().is_none_or(JoinHandle::is_finished) {
            self.numbering = Some(tokio::spawn(async move {
                // A failure is retried at the next check, or by a reader.
                while matches!(store.number_events().await, Ok(true)) {}
            }));
        }
    }

    /// Empties the trash in the background and slowly: no command waits for it.
    fn sweep(&mut self) {
        if self.sweeping.as_ref().is_some_and(|sweeping| !sweeping.is_finished()) {
            return;
        }
        let trash = self.engine.home().trash();
        let is_empty = std::fs::read_dir(&trash).map_or(true, |mut entries| entries.next().is_none());
        self.sweeping = (!is_empty).then(|| {
            tokio::task::spawn_blocking(move || {
                // What fails now is tried again at the next look.
                let _ = git::empty_trash(&trash, TRASH_PACE);
            })
        });
    }
}
