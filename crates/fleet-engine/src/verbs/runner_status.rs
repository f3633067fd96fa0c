use std::collections::BTreeSet;

use fleet_api::verbs::runner_status::{Answer, PauseView, Request, RunnerView, WarningView};
use fleet_core::event::{AgentEvent, Event, Fact, WARNING};

use super::needs_you;
use super::prelude::*;
use super::queue_pauses;
use crate::caller::is_inside_a_run;
use crate::runner::registry::{self, Runner};
use crate::runner::{Startable, needs};

/// Counting stops here.
const COUNTED: i64 = 1_000;
/// More would be a list: `fleet inbox` has it.
const MAX_NEEDS_YOU: usize = 10;

pub(crate) async fn run(engine: &Engine, _: Request) -> Outcome<Answer> {
    let home = engine.home();
    let up = registry::up(home)?;
    let place = engine.place()?;
    let live = engine.call(ops::LiveRuns { place }).await?;
    let upcoming = engine.call(ops::CountUpcoming { limit: COUNTED, now: clock::now() }).await?;
    let pauses = engine.call(ops::ListPauses { now: clock::now() }).await?;
    let spent = engine.call(ops::Spending { now: clock::now() }).await?;
    let ready = || upcoming.tasks.iter().filter(|tasks| tasks.ready > 0);
    let startable = Startable::look(engine, ready().map(needs)).await?;
    let missing: BTreeSet<&str> =
        ready().filter_map(|tasks| startable.missing_agent(tasks.agent.as_ref())).collect();
    // What goes on in other repositories is nothing to an agent.
    let is_agent = is_inside_a_run(engine)?;
    let refused = startable.refused.keys().filter(|_| !is_agent).cloned().collect();
    let warned = if is_agent { Vec::new() } else { warnings(engine, &live).await? };
    let (needs_you, needs_you_more) =
        if is_agent { (Vec::new(), false) } else { needs_you::find(engine, MAX_NEEDS_YOU).await? };
    Ok(Answer {
        missing_repositories: refused,
        missing_agents: missing.into_iter().map(ToOwned::to_owned).collect(),
        paused: pauses.into_iter().map(paused).collect(),
        frozen: home.frozen().exists(),
        queue_paused: queue_pauses::shown(engine).await?,
        spent_today: spent.day.micro_usd,
        budget_today: engine.config()?.spending().day_micro_usd,
        runners: up.iter().map(|runner| shown(runner, is_agent)).collect(),
        running: live.len(),
        interactive: live.iter().filter(|run| run.mode.is_interactive()).count(),
        needs_you,
        needs_you_more,
        warnings: warned,
        ready: ready().map(|tasks| tasks.ready).sum(),
        ready_more: upcoming.more_ready,
        log: if is_agent { String::new() } else { home.runner_log().display().to_string() },
    })
}

/// An agent has no business with the process.
fn shown(runner: &Runner, is_agent: bool) -> RunnerView {
    let whole = view(runner);
    if is_agent { RunnerView { pid: 0, ..whole } } else { whole }
}

/// The newest warning of each run.
async fn warnings(engine: &Engine, live: &[Run]) -> Outcome<Vec<WarningView>> {
    let newest = |run: &Run| ops::RunEventsOf { run: run.id, kinds: WARNING, limit: 1 };
    let events = engine.call(ops::All(live.iter().map(newest).collect())).await?;
    let text = |event: Event| match event.fact {
        Fact::Agent(AgentEvent::Warning { text }) => Some(text),
        _ => None,
    };
    let texts = events.into_iter().map(|events| events.into_iter().next_back().and_then(text));
    let view = |(run, text): (&Run, Option<String>)| Some(WarningView { run: run.id, text: text? });
    Ok(live.iter().zip(texts).filter_map(view).collect())
}

pub(super) fn view(runner: &Runner) -> RunnerView {
    RunnerView {
        name: runner.name.clone(),
        pid: runner.process.pid,
        slots: runner.slots,
        terminals: runner.terminals,
        background: runner.background,
        version: runner.version.clone(),
        started_at: Moment(runner.started_at),
        outdated: runner.outdated,
        shortage: runner.shortage.as_ref().map(|(_, text)| text.clone()),
    }
}

fn paused(pause: ops::Pause) -> PauseView {
    PauseView { account: pause.account, until: Moment(pause.until), why: pause.why }
}
