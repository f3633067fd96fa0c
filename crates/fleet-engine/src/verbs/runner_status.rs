//! Which runners are up, and what they have to do.

use std::collections::BTreeSet;
use std::path::PathBuf;

use fleet_core::event::{Event, Fact};
use fleet_core::id::RunId;
use fleet_core::problem::Outcome;
use fleet_core::run::Run;
use fleet_store::ops;
use serde::Serialize;

use crate::home::Home;
use crate::runner::Startable;
use crate::runner::registry::{self, Runner};
use crate::views::Moment;
use crate::{Engine, clock, problems};

/// A runner that is up.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json.md describes each field")]
pub struct RunnerView {
    pub name: String,
    pub pid: i32,
    pub slots: u32,
    pub background: bool,
    pub version: String,
    pub started_at: Moment,
    pub outdated: bool,
}

/// An account that takes no work.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json.md describes each field")]
pub struct PauseView {
    pub account: String,
    pub until: Moment,
    pub why: String,
}

/// What people should know about an agent at work.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json.md describes each field")]
pub struct WarningView {
    pub run: RunId,
    pub text: String,
}

/// How things stand on this home.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// The runners that are up, the oldest first.
    pub runners: Vec<RunnerView>,
    /// How many agents are at work here.
    pub running: usize,
    /// How many tasks could start.
    pub ready: usize,
    /// Agents that ready tasks ask for and that cannot be started here.
    pub missing_agents: Vec<String>,
    /// Repositories that ready tasks are about and that agents cannot work in here, any more or yet.
    pub missing_repositories: Vec<String>,
    /// Whether there are more ready tasks than were counted.
    pub ready_more: bool,
    /// Accounts that take no work for a while.
    pub paused: Vec<PauseView>,
    /// What people should know about agents at work here.
    pub warnings: Vec<WarningView>,
    /// What all runs used today, in millionths of a US dollar.
    pub spent_today: u64,
    /// What may be used in a day, in the same, if that is bounded.
    pub budget_today: Option<u64>,
    /// What the runner in the background says.
    pub log: PathBuf,
}

/// Ready tasks are counted up to here.
const COUNTED: i64 = 1_000;

/// Looks.
pub async fn run(engine: &Engine) -> Outcome<Response> {
    let home = Home::new(engine.home());
    let up = registry::up(&home).map_err(|error| problems::io(&home.runners(), &error))?;
    let place = home.place().map_err(|error| problems::io(home.root(), &error))?;
    let live = engine.call(ops::LiveRuns { place }).await?;
    let ready = engine
        .call(ops::Ready { filter: ops::TaskFilter::default(), limit: COUNTED, now: clock::now() })
        .await?;
    let pauses = engine.call(ops::ListPauses { now: clock::now() }).await?;
    let spent = engine.call(ops::Spending { now: clock::now() }).await?;
    let startable = Startable::look(engine, &ready.tasks).await?;
    let missing: BTreeSet<&str> =
        ready.tasks.iter().filter_map(|task| startable.missing_agent(task)).collect();
    Ok(Response {
        missing_repositories: startable.refused.keys().cloned().collect(),
        missing_agents: missing.into_iter().map(ToOwned::to_owned).collect(),
        paused: pauses.into_iter().map(paused).collect(),
        spent_today: spent.day.micro_usd,
        budget_today: engine.config()?.spending().day_micro_usd,
        runners: up.iter().map(view).collect(),
        running: live.len(),
        warnings: warnings(engine, &live).await?,
        ready: ready.tasks.len(),
        ready_more: ready.more,
        log: home.runner_log(),
    })
}

/// The newest warning of each run.
async fn warnings(engine: &Engine, live: &[Run]) -> Outcome<Vec<WarningView>> {
    let newest = |run: &Run| ops::RunEventsOf { run: run.id, kinds: &["run.warned"], limit: 1 };
    let events = engine.call(ops::All(live.iter().map(newest).collect())).await?;
    let text = |event: Event| match event.fact {
        Fact::RunWarned { text } => Some(text),
        _ => None,
    };
    let texts = events.into_iter().map(|events| events.into_iter().next_back().and_then(text));
    let view = |(run, text): (&Run, Option<String>)| Some(WarningView { run: run.id, text: text? });
    Ok(live.iter().zip(texts).filter_map(view).collect())
}

/// As it is shown.
pub fn view(runner: &Runner) -> RunnerView {
    RunnerView {
        name: runner.name.clone(),
        pid: runner.process.pid,
        slots: runner.slots,
        background: runner.background,
        version: runner.version.clone(),
        started_at: Moment(runner.started_at),
        outdated: runner.outdated,
    }
}

fn paused(pause: ops::Pause) -> PauseView {
    PauseView { account: pause.account, until: Moment(pause.until), why: pause.why }
}
