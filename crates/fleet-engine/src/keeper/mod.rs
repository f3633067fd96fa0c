//! The keeper of one run: a small process that prepares the workspace, starts the agent, writes down
//! what it says, holds the lease, enforces the limits, and records the end.
//!
//! Owns the life of one run on this machine. Must never depend on the runner that started it: that one may be
//! killed or replaced at any moment. Must never work on a run that it does not hold: every write to the store
//! names its attempt number, and the first refusal ends the agent.

mod agent;
mod agent_stdin;
mod asking;
mod boundary;
mod branch;
mod briefing;
pub(crate) mod checks;
mod command;
#[cfg(test)]
mod earlier_runs;
mod finish;
mod freeze;
pub(crate) mod journal;
mod lease;
mod mailbox;
mod prepare;
pub(crate) mod prior_tasks;
pub(crate) mod prior_work;
mod prompt;
mod pump;
pub(crate) mod setup;
pub(crate) mod stage;
mod starting_point;
mod supervise;
mod talk;
mod tally;
mod templates;

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fleet_agents::Registry;
use fleet_core::id::RunId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::project::Project;
use fleet_core::run::{Ending, Reason, Run, RunState, StopKind};
use fleet_core::supervision::Order;
use fleet_core::task::Task;
use fleet_core::workflow::Returns;
use fleet_host::git::Area;
use fleet_host::lock::Exclusive;
use fleet_host::process::{self, Identity};
use fleet_store::{Op, Store, ops};

pub(crate) use asking::AskingCalls;
pub(crate) use finish::declared;
pub(crate) use talk::Talk;
pub(crate) use tally::Pricing;

use crate::agents::{RunWish, Terms};
use crate::caller::{Caller, CallingAgent};
use crate::closing::EndOfRun;
use crate::config::Config;
use crate::door::{self, OpenDoor};
use crate::home::{Home, RunFolder, make_private};
use crate::runner::unattended;
use crate::stuck::{LONGEST_STEP, StuckGuard};
use crate::terminal::HookInbox;
use crate::{BoxFuture, Engine, agents, allowed, checkouts, clock, fault, problems};
use freeze::FreezeOrder;
use lease::{Lease, Orders, RunOrders};
use prepare::PreparedRun;
use prior_work::PriorWork;
use stage::StageRun;

/// An unreachable store is asked again after this.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// At most this many workspaces of a project are kept for a while after their use.
const MAX_RECENT_WORKSPACES: usize = 64;

#[derive(Debug, Clone, Copy)]
pub struct Ticket {
    pub run: RunId,
    pub attempt: i64,
    /// The slots of its runner.
    pub slots: usize,
}

struct Keeper<'e> {
    engine: &'e Engine,
    store: Store,
    /// The project's configuration.
    config: Config,
    agents: Registry,
    terms: Terms,
    /// What decides about a failure.
    after: ops::FailureSettings,
    home: Home,
    folder: RunFolder,
    run: Run,
    task: Task,
    stage: Option<Arc<StageRun>>,
    prior_work: Option<PriorWork>,
    project: Project,
    me: Identity,
    /// The slots of its runner.
    slots: usize,
    orders: Orders,
    freeze_order: FreezeOrder,
    hold: RunOrders,
    guard: StuckGuard,
    /// What the hooks of its agent say.
    hooks: HookInbox,
    /// What its agent asks people.
    asking: AskingCalls,
}

pub fn run(engine: &Engine, ticket: Ticket) -> BoxFuture<'_, Outcome<()>> {
    Box::pin(async move {
        let kept = keep(engine, ticket).await;
        // The runner may have been killed meanwhile, and this may be the last process that notices.
        let _ = unattended(engine).await;
        kept
    })
}

async fn keep(engine: &Engine, ticket: Ticket) -> Outcome<()> {
    let home = engine.home().clone();
    // Looked up before this process enters the control group of its own run.
    engine.check_outside()?;
    // Its runner has the store open, and joins what many keepers write.
    if let Ok(Some(runner)) = process::take_input_socket() {
        engine.relay_store(runner)?;
        clock::shared::follow(engine.store().await?).await.map_err(problems::store)?;
    }
    fault::point(engine, "keeper-begins").await;
    // A second keeper of the same run, or one that comes after the run was tidied up, has nothing to do.
    let Some(mark) = Mark::set(&home, ticket.run)? else { return Ok(()) };
    process::become_subreaper();
    let guard = StuckGuard::of_this_process().map_err(internal)?;
    fault::point(engine, "keeper-marked").await;
    let detail =
        until_store_answers(engine, async || engine.call(ops::GetRun { run: ticket.run }).await).await?;
    if detail.run.attempt != ticket.attempt || detail.run.state != RunState::Preparing {
        return mark.remove();
    }
    let Some(task) = detail.task.clone() else { return mark.remove() };
    let stage = until_store_answers(engine, async || StageRun::of(engine, &task, &detail.run).await)
        .await?
        .map(Arc::new);
    let prior_work = async || PriorWork::of(engine, &detail, stage.as_ref()).await;
    let prior_work = until_store_answers(engine, prior_work).await?;
    let store = engine.store().await?.clone();
    let (span, until) = (engine.config()?.runner().lease, detail.run.lease_until);
    let hold = lease::hold(store.clone(), Lease { run: ticket.run, attempt: ticket.attempt, span, until })?;
    hold.pass_on(detail.run.stop.clone());
    let freeze_order = freeze::listen(&home)?;
    match project_settings(engine, &detail.run, &task, &detail.project) {
        Ok(ProjectSettings { config, agents, terms, after }) => {
            let keeper = Keeper {
                engine,
                store,
                config,
                agents,
                terms,
                after,
                folder: home.run(ticket.run),
                home,
                run: detail.run,
                task,
                stage,
                prior_work,
                project: detail.project,
                me: mark.me.clone(),
                slots: ticket.slots,
                orders: hold.orders.clone(),
                freeze_order,
                hold,
                guard,
                hooks: HookInbox::default(),
                asking: AskingCalls::default(),
            };
            // The life of a run is too large a future for the caller's stack.
            let left = Box::pin(keeper.live()).await?;
            fault::point(engine, "keeper-released").await;
            if left == LeftBehind::Workspace {
                // The mark stays, without its lock: the next check cleans up.
                return Ok(());
            }
        }
        // The repository or its configuration is gone or broken: only a person can mend that.
        Err(problem) => {
            let ending = match problem.code {
                // It was here when the runner looked.
                _ if checkouts::is_not_here(&problem) => Ending::Released(problem.to_string()),
                Code::ModelRefused => Ending::Failed(Reason::BadModel, problem.to_string()),
                _ => Ending::Failed(Reason::SetupFailed, problem.to_string()),
            };
            let end =
                EndOfRun { run: ticket.run, attempt: ticket.attempt, ending, result: None, reset: None };
            end.record(&store, &ops::FailureSettings::default()).await?;
        }
    }
    mark.remove()
}

/// A store that is out of reach for a moment (a restart, all its connections taken) is asked again until the lease has
/// ended: the task of a keeper that gives up is claimed again at once, for a keeper that would give up as well.
async fn until_store_answers<T>(engine: &Engine, ask: impl AsyncFn() -> Outcome<T>) -> Outcome<T> {
    let deadline = clock::uptime() + engine.config()?.runner().lease;
    loop {
        match ask().await {
            Err(Problem { code: Code::StoreUnreachable | Code::StoreBusy | Code::StoreFull, .. })
                if clock::uptime() < deadline =>
            {
                tokio::time::sleep(RETRY_DELAY).await;
            }
            answer => return answer,
        }
    }
}

fn project_settings(engine: &Engine, run: &Run, task: &Task, project: &Project) -> Outcome<ProjectSettings> {
    let here = engine.at(checkout(project))?;
    allowed::check(&here)?;
    let model = task.model().map(ToString::to_string);
    let tuning = task.tuning();
    let wish = RunWish {
        model: model.as_deref(),
        read_only: task.spec.read_only,
        effort: tuning.effort.as_deref(),
        args: &tuning.args,
    };
    Ok(ProjectSettings {
        terms: agents::terms(&here, &run.agent, wish)?,
        after: agents::after(&here, &run.agent)?,
        agents: here.agents()?,
        config: here.config()?.clone(),
    })
}

struct ProjectSettings {
    config: Config,
    agents: Registry,
    terms: Terms,
    after: ops::FailureSettings,
}

/// The directory whose configuration counts: the main work tree, or the repository itself when it is bare.
pub(crate) fn checkout(project: &Project) -> PathBuf {
    checkout_of(Path::new(&project.common_dir))
}

/// The same of a repository, by its git common directory.
pub(crate) fn checkout_of(common_dir: &Path) -> PathBuf {
    let is_git = common_dir.file_name().is_some_and(|name| name == ".git");
    common_dir.parent().filter(|_| is_git).unwrap_or(common_dir).to_owned()
}

/// The file that says that a run is at work here or still has to be tidied up.
struct Mark {
    me: Identity,
    path: PathBuf,
    lock: Exclusive,
}

impl Mark {
    fn set(home: &Home, run: RunId) -> Outcome<Option<Self>> {
        let path = home.live_run(run);
        let set = || -> std::io::Result<Option<Self>> {
            make_private(&home.live())?;
            make_private(home.run(run).dir())?;
            let Some(lock) = Exclusive::try_acquire(&path)? else { return Ok(None) };
            let me = Identity::current();
            lock.write(&serde_json::to_vec(&me)?)?;
            Ok(Some(Self { me, path: path.clone(), lock }))
        };
        set().map_err(problems::at(&path))
    }

    fn remove(self) -> Outcome<()> {
        std::fs::remove_file(&self.path).map_err(problems::at(&self.path))?;
        drop(self.lock);
        Ok(())
    }
}

/// What there is of a run on this machine when its keeper ends, besides its branch and its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeftBehind {
    Nothing,
    /// A workspace that could not be given back, perhaps with work in it that is nowhere else.
    Workspace,
}

impl Keeper<'_> {
    async fn live(&self) -> Outcome<LeftBehind> {
        let group = self.launch_group();
        let prepared = self.bounded(self.prepare()).await;
        let group = group.await.map_err(internal)?;
        let mut prepared = match prepared {
            Ok(prepared) => prepared,
            Err(ending) => {
                drop(group);
                return self.finish_unready(ending).await;
            }
        };
        fault::point(self.engine, "keeper-prepared").await;
        let door = self.open_door(&prepared);
        prepared.door = door.as_ref().map(|door| door.path().to_owned()).map_err(Clone::clone);
        let seen = self.supervise(&prepared, group).await;
        if let Ok(door) = door {
            door.close().await;
        }
        fault::point(self.engine, "keeper-attended").await;
        self.finish(prepared, seen).await
    }

    /// Lets the agent ask, as the agent of this run. A run without a door goes on: its report is what counts.
    fn open_door(&self, prepared: &PreparedRun) -> Result<OpenDoor, String> {
        let here = self.engine.at(prepared.workspace.path().to_owned());
        let agent = CallingAgent { run: self.run.id, task: self.task.id, project: self.project.clone() };
        let engine = here.map_err(|problem| problem.to_string())?.acting_as(Caller::Agent(agent));
        let engine = engine.with_hooks(self.hooks.clone()).with_asking(self.asking.clone());
        let host = door::DoorOwner { keeper: self.me.clone() };
        OpenDoor::open(engine, &self.home, self.run.id, host).map_err(|error| error.to_string())
    }

    /// Work that would hold the run's slot forever if it hung. What waits for the store, for the agent or for a command
    /// of the user's has bounds of its own, or none on purpose.
    async fn bounded<T>(&self, work: impl Future<Output = T>) -> T {
        self.guard.within(LONGEST_STEP);
        let done = work.await;
        self.guard.pause();
        done
    }

    /// The workspaces of the project. What was in use at the same time, such as a batch of agents in terminals, soon may be
    /// again: so more are kept than configured, until the runner finds that nobody used them.
    fn area(&self) -> Area {
        let area = self.home.area(&self.project, &self.config);
        let pool = if area.pool == 0 { 0 } else { area.pool.max(self.slots).max(MAX_RECENT_WORKSPACES) };
        Area { pool, ..area }
    }

    async fn call<O: Op>(&self, op: O) -> Outcome<O::Out> {
        self.engine.call(op).await
    }

    fn returns(&self) -> Returns {
        self.stage.as_ref().map_or(Returns::Report, |stage| stage.returns())
    }

    fn checks(&self) -> Vec<Vec<String>> {
        checks::of_task(self.stage.as_deref(), &self.task.spec, &self.config)
    }

    /// The end of a run that was ordered to stop.
    fn ordered_ending(&self) -> Option<Ending> {
        match &*self.orders.borrow() {
            Some(Order::Stop(stop)) => Some(match stop.kind {
                StopKind::Cancel => Ending::Cancelled(stop.why.clone()),
                StopKind::Release | StopKind::Switch => Ending::Released(stop.why.clone()),
            }),
            Some(Order::Lost) | None => None,
        }
    }

    fn is_lost(&self) -> bool {
        matches!(&*self.orders.borrow(), Some(Order::Lost))
    }
}

/// Work that blocks (git, files, processes) runs beside the lease, which must be renewed all the while.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Outcome<T> {
    let done = on_a_thread(Box::new(move || Box::new(work()))).await.map_err(internal)?;
    done.downcast().map(|value| *value).map_err(|_| internal("the work returned something else"))
}

/// The types of the work and of what it returns are hidden: what runs it is compiled once.
fn on_a_thread(
    work: Box<dyn FnOnce() -> Box<dyn Any + Send> + Send>,
) -> tokio::task::JoinHandle<Box<dyn Any + Send>> {
    tokio::task::spawn_blocking(work)
}

fn internal(error: impl std::fmt::Display) -> Problem {
    Problem::new(Code::Internal, error.to_string())
}
