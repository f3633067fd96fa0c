use fleet_api::verbs::run_attach::{Answer, AttachTarget, Request};
use fleet_core::run::{RunState, StopKind};
use fleet_core::task::TaskState;

use super::elsewhere;
use super::prelude::*;
use crate::sockets::{self, RunSocket};

pub(crate) async fn run(engine: &Engine, Request { id }: Request) -> Outcome<Answer> {
    let id = engine.task_id(&id).await?;
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
