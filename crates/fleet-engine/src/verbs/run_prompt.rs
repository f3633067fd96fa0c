//! Says something to the agent of a task: while it works, before it starts, or after it has ended.

use fleet_api::verbs::run_prompt::{Answer, Request};
use fleet_core::id::TaskId;
use fleet_core::message::Reception;
use fleet_core::problem::{Code, Outcome};
use fleet_core::run::Run;
use fleet_core::task::{PromptText, Task};
use fleet_store::ops;

use super::launch::check_agent;
use super::lineage;
use super::resume::meant;
use super::task_add::parsed;
use crate::home::Home;
use crate::{Engine, caller, halt};
use fleet_api::views::{MessageView, TaskView};

/// Keeps the message, and tells the keeper of a run that is at work here. Nobody is told to start a task that was queued
/// again.
pub async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let text: PromptText = parsed(&request.text)?;
    let task = meant(engine, &request.id).await?;
    lineage::check(engine, task).await?;
    check_startable(engine, task).await?;
    let (kind, from, now) = (request.kind, caller::who(engine)?, engine.now());
    let told = engine.call(ops::SendMessage { task, kind, text, from, expires_at: None, now }).await?;
    if let (Reception::Live, Some(run)) = (told.reception, &told.run) {
        nudge(engine, run);
    }
    Ok(Answer {
        task: TaskView::new(&told.task, now),
        run: told.run.as_ref().map(|run| run.id),
        agent: told.run.map(|run| run.agent),
        prompt: MessageView::new(&told.message, now),
        reception: told.reception,
    })
}

/// A task that is over would be queued for an agent that cannot be started here, and wait for ever.
async fn check_startable(engine: &Engine, id: TaskId) -> Outcome<()> {
    let task: Task = match engine.call(ops::GetTask { id }).await {
        // Deleted in this moment, which is told better by what follows.
        Err(problem) if problem.code == Code::TaskNotFound => return Ok(()),
        detail => detail?.task,
    };
    if !task.state().is_settled() {
        return Ok(());
    }
    let default = engine.config()?.agent();
    check_agent(engine, task.agent().map_or(default, |agent| agent.as_str()))
}

/// A keeper elsewhere, or one that has not told its name yet, hears of it when it renews its lease.
fn nudge(engine: &Engine, run: &Run) {
    if Home::new(engine.home()).place().is_ok_and(|here| here == run.place) {
        halt::nudge(run.keeper.as_deref());
    }
}
