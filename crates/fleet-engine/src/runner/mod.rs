//! The runner: claims tasks and starts a keeper for each.
//!
//! Owns the slots of one process. Must never hold anything that is not in the store or on disk: it may be killed at
//! any instant, and the next one goes on.

mod autostart;
pub mod registry;
mod settings;

use std::collections::BTreeSet;
use std::time::Duration;

use fleet_agents::Program;
use fleet_core::id::{RunId, TaskId};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::task::AgentName;
use fleet_host::git::{self, Pace};
use fleet_host::machine;
use fleet_host::process::{self, Detached, Exit, Identity};
use fleet_store::ops;
use serde::Serialize;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;

use crate::environment::Environment;
use crate::home::Home;
use crate::reconcile::{Reconciler, Witness};
use crate::{Engine, agents, clock, fault, problems};
use registry::{Registered, Runner};
use settings::Settings;

pub use autostart::{autostart, start_in_background};

/// How a runner works.
#[derive(Debug, Clone, Copy, Default)]
pub struct Request {
    /// How many agents at a time; the configured number otherwise.
    pub slots: Option<u32>,
    /// The one runner in the background.
    pub background: bool,
    /// End when nothing runs here and nothing is ready.
    pub until_idle: bool,
}

/// What a runner tells whoever watches it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// It is up.
    Up(Runner),
    /// A run was given to its keeper.
    Started {
        /// The task.
        task: TaskId,
        /// Its title.
        title: String,
        /// The run.
        run: RunId,
        /// The agent.
        agent: String,
    },
    /// A run that had lost its keeper was repaired.
    Repaired(RunId, String),
    /// Something went wrong and will be tried again.
    Trouble(String),
    /// It takes no more work; so many runs go on.
    Leaving(usize),
}

/// Without any sign the queue is looked at so often.
const LOOK: Duration = Duration::from_secs(1);
/// What crashes left is looked for so often.
const REPAIR: Duration = Duration::from_secs(5);
/// Ready tasks that cannot start here (no such agent, a cap, a scope) are not tried again before this.
const IN_VAIN: Duration = Duration::from_millis(250);
/// How what was moved aside is removed. File systems are slow for others after many files were deleted at once.
const SWEEP: Pace = Pace { at_most: 20_000, pause_every: 500, pause: Duration::from_millis(50) };
/// After trouble with the store.
const PAUSE: Duration = Duration::from_secs(2);

/// Runs until it is told to end. A second runner in the background ends at once.
pub async fn run(engine: &Engine, request: Request, tell: &mut dyn FnMut(Notice)) -> Outcome<()> {
    let home = Home::new(engine.home());
    let settings = Settings::of(engine);
    let config = engine.config()?;
    let configured = || u32::try_from(config.runner().slots(machine::cores())).unwrap_or(u32::MAX);
    let runner = Runner {
        name: registry::new_name(clock::entropy()?),
        process: Identity::current(),
        slots: request.slots.unwrap_or_else(configured),
        background: request.background,
        started_at: clock::now(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let registered =
        registry::register(&home, runner).map_err(|error| problems::io(&home.runners(), &error))?;
    let Some(registered) = registered else { return Ok(()) };
    tell(Notice::Up(registered.runner.clone()));
    let mut shift = Shift {
        engine,
        settings,
        reconciler: Reconciler::new(engine)?,
        registered,
        keepers: Vec::new(),
        adopted: 0,
        repaired: None,
        sweeping: None,
        in_vain: None,
    };
    let mut end = End::listen()?;
    let watch = engine.store().await?.watch().await.map_err(problems::store)?;
    // Nobody could find and stop a runner that is not seen any more; the next one takes over.
    while home.root().exists() && shift.registered.is_seen() {
        let pause = match shift.work(tell).await {
            Ok(Turn::Idle) if request.until_idle && shift.is_tidy().await => break,
            Ok(Turn::Idle | Turn::Busy) => LOOK,
            Err(problem) => {
                tell(Notice::Trouble(problem.message));
                PAUSE
            }
        };
        tokio::select! {
            () = watch.changed(pause) => {}
            asked = end.next() => if asked { break },
        }
    }
    tell(Notice::Leaving(shift.busy()));
    Ok(())
}

/// Whether there was anything to do.
#[derive(Debug, PartialEq, Eq)]
enum Turn {
    /// Nothing runs here and nothing is ready.
    Idle,
    /// Something runs or may run.
    Busy,
}

/// One runner at work.
struct Shift<'e> {
    engine: &'e Engine,
    /// As they are now, for what is claimed.
    settings: Settings,
    reconciler: Reconciler<'e>,
    registered: Registered,
    /// The keepers that it started.
    keepers: Vec<(Identity, RunId)>,
    /// Runs that a runner before it started.
    adopted: usize,
    repaired: Option<Duration>,
    /// What was moved aside is being removed.
    sweeping: Option<JoinHandle<()>>,
    /// When ready tasks were there, and none that could be claimed.
    in_vain: Option<Duration>,
}

impl Shift<'_> {
    fn busy(&self) -> usize {
        self.keepers.len() + self.adopted
    }

    async fn work(&mut self, tell: &mut dyn FnMut(Notice)) -> Outcome<Turn> {
        let now = clock::uptime();
        let vanished = self.vanished();
        for run in &vanished {
            if let Some(what) = self.reconciler.take_over(*run, Witness::Runner).await? {
                tell(Notice::Repaired(*run, what));
            }
        }
        if self.repaired.is_none_or(|last| now.saturating_sub(last) >= REPAIR) {
            self.repaired = Some(now);
            self.repair(tell).await?;
        }
        let free = (self.registered.runner.slots as usize).saturating_sub(self.busy());
        if free == 0 {
            return Ok(Turn::Busy);
        }
        self.settings.refresh(self.engine)?;
        let claimed = self.claim(free).await?;
        if !claimed.is_empty() {
            fault::point(self.engine, "runner-claimed").await;
        }
        for claim in &claimed {
            // One that cannot be started must not keep the others of the same claim from it.
            if let Err(problem) = self.start(claim, tell) {
                tell(Notice::Trouble(problem.message));
            }
        }
        let idle = claimed.is_empty() && self.busy() == 0;
        Ok(if idle { Turn::Idle } else { Turn::Busy })
    }

    /// Whether nothing is left that a repair would set going again.
    async fn is_tidy(&mut self) -> bool {
        let look = self.reconciler.look().await;
        look.is_ok_and(|look| look.live.is_empty() && look.runs.is_empty())
    }

    /// Forgets the keepers that have ended, and returns the runs of those that did not live to tidy up. One that was
    /// killed at once has left no mark: how it ended tells.
    fn vanished(&mut self) -> Vec<RunId> {
        let (ended, home) = (process::reap(), Home::new(self.engine.home()));
        let mut vanished = Vec::new();
        self.keepers.retain(|(keeper, run)| {
            let Some((_, exit)) = ended.iter().find(|(pid, _)| *pid == keeper.pid) else { return true };
            if *exit != Exit::Code(0) || home.live_run(*run).exists() {
                vanished.push(*run);
            }
            false
        });
        vanished
    }

    async fn repair(&mut self, tell: &mut dyn FnMut(Notice)) -> Outcome<()> {
        let look = self.reconciler.look().await?;
        for (run, what) in look.runs {
            tell(Notice::Repaired(run, what));
        }
        for what in look.trouble {
            tell(Notice::Trouble(what));
        }
        self.sweep();
        let up = registry::up(&Home::new(self.engine.home())).unwrap_or_default();
        let is_mine = |runner: &str| runner == self.registered.runner.name;
        let others = |run: &&fleet_core::run::Run| {
            !is_mine(&run.runner) && !up.iter().any(|runner| runner.name == run.runner)
        };
        self.adopted = look.live.iter().filter(others).count();
        Ok(())
    }

    /// Removes what was moved aside, beside everything else and slowly: nobody waits for it.
    fn sweep(&mut self) {
        if self.sweeping.as_ref().is_some_and(|sweeping| !sweeping.is_finished()) {
            return;
        }
        let trash = Home::new(self.engine.home()).trash();
        let is_empty = std::fs::read_dir(&trash).map_or(true, |mut entries| entries.next().is_none());
        self.sweeping = (!is_empty).then(|| {
            tokio::task::spawn_blocking(move || {
                // What fails now is tried again at the next look.
                let _ = git::empty_trash(&trash, SWEEP);
            })
        });
    }

    async fn claim(&mut self, free: usize) -> Outcome<Vec<ops::Claimed>> {
        let engine = self.settings.engine(self.engine);
        let config = engine.config()?;
        let default_agent: AgentName = config.agent().parse().map_err(problems::field)?;
        // Looking is free, claiming takes the pen from others; and whatever any agent says makes us look.
        let ready = ops::Ready { filter: ops::TaskFilter::default(), limit: 1, now: clock::now() };
        let in_vain = self.in_vain.is_some_and(|last| clock::uptime().saturating_sub(last) < IN_VAIN);
        if in_vain || self.engine.call(ready).await?.tasks.is_empty() {
            return Ok(Vec::new());
        }
        let runs = (0..free.min(MOST)).map(|_| self.engine.new_id()).collect::<Outcome<Vec<RunId>>>()?;
        let claim = ops::Claim {
            runner: self.registered.runner.name.clone(),
            place: self.reconciler.place().to_owned(),
            runs,
            default_agent,
            able: Some(able(engine)?),
            accounts: agents::accounts(engine)?,
            caps: config.caps().clone(),
            budget: agents::budget(config),
            lease: config.runner().lease,
            now: clock::now(),
        };
        let claimed = self.engine.call(claim).await?;
        self.in_vain = claimed.is_empty().then(clock::uptime);
        Ok(claimed)
    }

    /// Gives the run to a keeper. When that fails the run is still ours: a repair gives it back once it should have had
    /// its keeper, which is also what keeps a machine that can start nothing from trying without a pause.
    fn start(&mut self, claim: &ops::Claimed, tell: &mut dyn FnMut(Notice)) -> Outcome<()> {
        let home = Home::new(self.engine.home());
        let folder = home.run(claim.run.id);
        folder.make().map_err(|error| problems::io(folder.dir(), &error))?;
        let mut args =
            vec!["shim".into(), claim.run.id.to_string().into(), claim.run.fence.to_string().into()];
        args.extend(self.engine.flags().iter().flat_map(|flag| ["-c".into(), flag.into()]));
        let keeper = Detached {
            program: Environment::this_binary()?,
            args,
            env: Some(self.engine.environment().for_children()),
            cwd: home.root().to_owned(),
            log: folder.keeper_log(),
        };
        let spawned = process::spawn_detached(&keeper)
            .map_err(|error| Problem::new(Code::Io, format!("a keeper could not be started: {error}")))?;
        self.keepers.push((spawned, claim.run.id));
        tell(Notice::Started {
            task: claim.task.id,
            title: claim.task.spec.title.to_string(),
            run: claim.run.id,
            agent: claim.run.agent.clone(),
        });
        Ok(())
    }
}

/// So many tasks are claimed at once at most; the rest follow at once.
const MOST: usize = 32;

/// Whether a task that names this agent, or none, can be started here.
pub fn can_start(engine: &Engine, agent: Option<&str>) -> Outcome<bool> {
    let name = agent.unwrap_or(engine.config()?.agent());
    Ok(able(engine)?.iter().any(|here| here.as_str() == name))
}

/// The agents that can be started here.
pub(crate) fn able(engine: &Engine) -> Outcome<BTreeSet<AgentName>> {
    let environment = engine.environment();
    let is_here = |program: &Program| match program {
        Program::This => true,
        Program::OnPath(name) => environment.find_program(name).is_some(),
    };
    let agents = engine.agents()?;
    let here = agents.all().filter(|adapter| is_here(&adapter.about().program));
    Ok(here.filter_map(|adapter| adapter.name().parse().ok()).collect())
}

/// Signals that end a wait.
struct End {
    children: Signal,
    asked: [Signal; 3],
}

impl End {
    fn listen() -> Outcome<Self> {
        let on =
            |kind| signal(kind).map_err(|error| Problem::new(Code::Internal, format!("signals: {error}")));
        Ok(Self {
            children: on(SignalKind::child())?,
            asked: [on(SignalKind::terminate())?, on(SignalKind::interrupt())?, on(SignalKind::hangup())?],
        })
    }

    /// Whether the runner is asked to end; otherwise a keeper has ended.
    async fn next(&mut self) -> bool {
        let [first, second, third] = &mut self.asked;
        tokio::select! {
            _ = self.children.recv() => false,
            _ = first.recv() => true,
            _ = second.recv() => true,
            _ = third.recv() => true,
        }
    }
}
