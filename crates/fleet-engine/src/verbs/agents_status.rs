//! How the fleet is doing: every agent at work and its health, free slots, what waits, what is paused.

use std::collections::BTreeMap;
use std::time::Duration;

use fleet_core::problem::Outcome;
use fleet_core::run::{Health, Signs};
use fleet_core::time::Millis;
use serde::Serialize;

use super::run_list;
use super::runner_status::{self, PauseView, RunnerView};
use crate::Engine;
use crate::runner::able;
use crate::views::ListedRunView;

/// Which agents.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Those of the directory's project instead of all.
    pub this_project: bool,
}

/// An agent at work.
#[derive(Debug, Clone, Serialize)]
pub struct AtWork {
    /// Its run.
    #[serde(flatten)]
    pub run: ListedRunView,
    /// How it is doing.
    pub health: Health,
    /// How long it has been at work.
    pub seconds: u64,
}

/// How the fleet is doing.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// The agents at work, newest first.
    pub agents: Vec<AtWork>,
    /// How many of them there are of each health.
    pub by_health: BTreeMap<&'static str, usize>,
    /// The runners that are up here.
    pub runners: Vec<RunnerView>,
    /// Whether one is started with the next work, where none is up.
    pub autostart: bool,
    /// How many agents those may run at a time.
    pub slots: u32,
    /// How many more they could start now.
    pub free_slots: u32,
    /// How many tasks could start.
    pub ready: usize,
    /// Whether there are more of them than were counted.
    pub ready_more: bool,
    /// Agents that can be started here, by name.
    pub available: Vec<String>,
    /// Agents that ready tasks ask for and that cannot be started here.
    pub missing_agents: Vec<String>,
    /// Accounts that take no work for a while.
    pub paused: Vec<PauseView>,
    /// What all runs used today, in millionths of a US dollar.
    pub spent_today: u64,
    /// What may be used in a day, in the same, if that is bounded.
    pub budget_today: Option<u64>,
}

/// Looks.
pub async fn run(engine: &Engine, request: &Request) -> Outcome<Response> {
    let asked = run_list::Request { all_projects: !request.this_project, ..run_list::Request::default() };
    let listed = run_list::run(engine, &asked).await?;
    let status = runner_status::run(engine).await?;
    let patience = engine.config()?.limits().idle;
    let now = engine.now();
    let agents: Vec<AtWork> = listed.runs.into_iter().map(|run| at_work(run, patience, now)).collect();
    let mut by_health: BTreeMap<&'static str, usize> = BTreeMap::new();
    for agent in &agents {
        *by_health.entry(agent.health.as_str()).or_default() += 1;
    }
    let slots: u32 = status.runners.iter().map(|runner| runner.slots).sum();
    let taken = u32::try_from(status.running).unwrap_or(u32::MAX);
    Ok(Response {
        agents,
        by_health,
        slots,
        free_slots: slots.saturating_sub(taken),
        runners: status.runners,
        autostart: engine.config()?.autostart(),
        ready: status.ready,
        ready_more: status.ready_more,
        available: able(engine)?.iter().map(ToString::to_string).collect(),
        missing_agents: status.missing_agents,
        paused: status.paused,
        spent_today: status.spent_today,
        budget_today: status.budget_today,
    })
}

fn at_work(listed: ListedRunView, patience: Option<Duration>, now: Millis) -> AtWork {
    let run = &listed.run;
    let signs = Signs {
        state: run.state,
        is_stopping: run.stopping.is_some(),
        is_expired: run.lease_until < now,
        idle: listed.load.and_then(|load| load.idle_seconds).map(Duration::from_secs),
        cpu_percent: listed.load.and_then(|load| load.cpu_percent),
        patience,
    };
    let since = run.started_at.unwrap_or(run.created_at);
    AtWork { health: signs.health(), seconds: now.since(since.0).as_secs(), run: listed }
}
