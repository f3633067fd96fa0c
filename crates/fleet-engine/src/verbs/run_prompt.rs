use fleet_api::verbs::run_prompt::{Answer, Request};
use fleet_core::message::Reception;
use fleet_core::task::{PromptText, Task, TaskState};

use super::create::check_agent;
use super::lineage;
use super::prelude::*;
use super::task_add::parsed;
use crate::{caller, cancellation};
use fleet_api::views::{MessageView, TaskView};

/// Stores the message, and wakes the keeper of a run that is at work here. Starting a requeued task is the caller's
/// business.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let text: PromptText = parsed(&request.text)?;
    let task = engine.task_id(&request.id).await?;
    lineage::check(engine, task).await?;
    check_not_own(engine, task)?;
    check_startable(engine, task).await?;
    let (kind, from, now) = (request.kind, caller::who(engine)?, engine.now());
    let told = engine.call(ops::SendMessage { task, kind, text, from, expires_at: None, now }).await?;
    if let (Reception::Live, Some(run)) = (told.reception, &told.run) {
        wake_keeper_of(engine, run);
    }
    Ok(Answer {
        task: TaskView::new(&told.task, now),
        run: told.run.as_ref().map(|run| run.id),
        agent: told.run.map(|run| run.agent),
        prompt: MessageView::new(&told.message, now),
        reception: told.reception,
    })
}

/// An agent that could prompt its own task would restart itself forever.
fn check_not_own(engine: &Engine, task: TaskId) -> Outcome<()> {
    if lineage::own_task(engine)? != Some(task) {
        return Ok(());
    }
    Err(Problem::new(Code::NotYours, format!("task {task} is your own: an agent cannot prompt itself"))
        .hint("say it in your final message; `fleet note TEXT` informs people while you work"))
}

/// A task that is over would be queued for an agent that cannot be started here, and wait forever.
async fn check_startable(engine: &Engine, id: TaskId) -> Outcome<()> {
    let task: Task = match engine.call(ops::GetTask { id }).await {
        // Deleted in this moment, which the next call reports better.
        Err(problem) if problem.code == Code::TaskNotFound => return Ok(()),
        detail => detail?.task,
    };
    let is_reopened = task.state().is_settled() || task.state() == TaskState::Waiting;
    if !is_reopened {
        return Ok(());
    }
    let default = engine.config()?.agent();
    check_agent(engine, task.agent().map_or(default, |agent| agent.as_str()))
}

/// A keeper elsewhere, or one that is not registered yet, learns of it when it renews its lease.
fn wake_keeper_of(engine: &Engine, run: &Run) {
    if engine.home().place().is_ok_and(|here| here == run.place) {
        cancellation::wake_keeper(run.keeper.as_deref());
    }
}
