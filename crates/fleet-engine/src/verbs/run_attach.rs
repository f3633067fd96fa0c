use std::time::Duration;

use fleet_api::verbs::run_attach::{Answer, AttachTarget, Request};
use fleet_core::run::{RunState, StopKind};
use fleet_core::task::TaskState;

use super::elsewhere;
use super::prelude::*;
use crate::home::Home;
use crate::sockets::{self, RunSocket};
use crate::waiting::Waiting;

/// How often it is looked whether the terminal of a run is there. Mostly it is there within milliseconds.
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

pub(crate) async fn run(engine: &Engine, Request { id, wait_seconds }: Request) -> Outcome<Answer> {
    let id = engine.task_id(&id).await?;
    let mut waiting = Waiting::start(engine, wait_seconds).await?;
    let mut pause = SHORTEST_PAUSE;
    loop {
        let answer = look(engine, id).await?;
        let appears = terminal_appears(engine.home(), answer.run, pause);
        if answer.target != AttachTarget::Starting || !waiting.goes_on_or(appears, pause).await {
            return Ok(answer);
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Not announced through the store: the agent is on the screen before the store knows that it has started.
async fn terminal_appears(home: &Home, run: Option<RunId>, mut pause: Duration) {
    let Some(run) = run else { return std::future::pending().await };
    while sockets::find(home, run, RunSocket::Terminal).is_none() {
        tokio::time::sleep(pause).await;
        pause = (pause + SHORTEST_PAUSE).min(LONGEST_PAUSE);
    }
}

async fn look(engine: &Engine, id: TaskId) -> Outcome<Answer> {
    let task = engine.call(ops::GetTask { id }).await?.task;
    let runs = engine.call(ops::ListRuns::of_task(id)).await?;
    let newest = runs.into_iter().map(|row| row.run).next();
    let live = newest.as_ref().filter(|run| run.state.is_live());
    if let Some(run) = live {
        elsewhere::refuse(engine, run)?;
    }
    let has_terminal = |run: &Run| sockets::find(engine.home(), run.id, RunSocket::Terminal).is_some();
    let is_switched = |run: &Run| run.stop.as_ref().is_some_and(|stop| stop.kind == StopKind::Switch);
    let target = match (live, task.state()) {
        // It ends, and the next run is what a person has asked for.
        (Some(run), _) if is_switched(run) => AttachTarget::Starting,
        (Some(run), _) if has_terminal(run) => AttachTarget::Terminal,
        (Some(run), _) if run.mode.is_interactive() && run.state.get() != RunState::Finishing => {
            AttachTarget::Starting
        }
        (None, TaskState::Queued) => AttachTarget::Starting,
        (Some(_), _) => AttachTarget::Headless,
        (None, _) => AttachTarget::Over,
    };
    let branch = newest.as_ref().and_then(|run| run.branch.clone());
    Ok(Answer {
        task: id,
        title: task.spec.title.to_string(),
        run: newest.as_ref().map(|run| run.id),
        branch: branch.or_else(|| task.spec.branch.as_ref().map(ToString::to_string)),
        agent: newest.map(|run| run.agent).or_else(|| task.agent().map(ToString::to_string)),
        target,
    })
}
