//! Says something to the agent of a task: while it works, before it starts, or after it has ended.

use fleet_core::id::{RunId, TaskId};
use fleet_core::problem::{Code, Outcome};
use fleet_core::prompt::Reception;
use fleet_core::run::Run;
use fleet_core::task::{PromptText, Task};
use fleet_store::ops;
use serde::Serialize;

use super::launch::check_agent;
use super::lineage;
use super::resume::meant;
use super::task_add::parsed;
use crate::home::Home;
use crate::views::{PromptView, TaskView};
use crate::{Engine, halt};

/// What is said, and to whom.
#[derive(Debug, Clone)]
pub struct Request {
    /// The id of a task or a run, the beginning of it, or a branch.
    pub id: String,
    /// What is said.
    pub text: String,
}

/// What was kept, and where it goes.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// The task, as it is now.
    pub task: TaskView,
    /// The run that is at work on it.
    pub run: Option<RunId>,
    /// The agent of that run.
    #[serde(skip)]
    pub agent: Option<String>,
    /// What was kept.
    pub prompt: PromptView,
    /// Where it goes.
    pub reception: Reception,
}

/// Keeps the prompt, and tells the keeper of a run that is at work here. Nobody is told to start a task that was queued
/// again.
pub async fn run(engine: &Engine, request: Request) -> Outcome<Response> {
    let text: PromptText = parsed(&request.text)?;
    let task = meant(engine, &request.id).await?;
    lineage::check(engine, task).await?;
    check_startable(engine, task).await?;
    let (by, now) = (engine.environment().who(), engine.now());
    let told = engine.call(ops::AddPrompt { task, text, by, now }).await?;
    if let Some(run) = &told.run {
        nudge(engine, run);
    }
    Ok(Response {
        task: TaskView::new(&told.task, now),
        run: told.run.as_ref().map(|run| run.id),
        agent: told.run.map(|run| run.agent),
        prompt: PromptView::from(&told.prompt),
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
