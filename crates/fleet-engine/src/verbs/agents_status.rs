use std::collections::BTreeMap;
use std::time::Duration;

use fleet_api::verbs::agents_status::{Answer, AtWork, Request};
use fleet_api::verbs::runner_status::Request as RunnerStatus;
use fleet_api::views::ListedRunView;
use fleet_core::run::RunSigns;

use super::prelude::*;
use super::{lineage, run_list, runner_status};
use crate::runner::able;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let this_project = request.this_project || lineage::own_task(engine)?.is_some();
    let runs = run_list::live(engine, !this_project).await?;
    let status = runner_status::run(engine, RunnerStatus::default()).await?;
    let patience = engine.config()?.limits().idle;
    let now = engine.now();
    let agents: Vec<AtWork> = runs.into_iter().map(|run| at_work(run, patience, now)).collect();
    let mut by_health: BTreeMap<String, usize> = BTreeMap::new();
    for agent in &agents {
        *by_health.entry(agent.health.as_str().to_owned()).or_default() += 1;
    }
    let slots: u32 = status.runners.iter().map(|runner| runner.slots).sum();
    let taken = u32::try_from(status.running.saturating_sub(status.interactive)).unwrap_or(u32::MAX);
    Ok(Answer {
        agents,
        by_health,
        slots,
        free_slots: slots.saturating_sub(taken),
        runners: status.runners,
        autostart: engine.config()?.general().autostart,
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
    let signs = RunSigns {
        state: run.state,
        is_stopping: run.stopping.is_some(),
        is_expired: run.lease_until.0 < now,
        idle: listed.load.and_then(|load| load.idle_seconds).map(Duration::from_secs),
        cpu_percent: listed.load.and_then(|load| load.cpu_percent),
        agent_state: run.agent_state.as_ref().map(|now| now.state),
        patience,
    };
    let since = run.started_at.unwrap_or(run.created_at);
    AtWork { health: signs.health(), seconds: now.since(since.0).as_secs(), run: listed }
}
