//! Whose task a task or a workflow is: agents may act only on what comes from their own.

use fleet_core::id::{TaskId, WorkflowId};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_store::ops;

use crate::Engine;
use crate::caller::Caller;

/// More generations than any setting allows.
const MOST_GENERATIONS: usize = 64;

/// The task on which the agent works that asks; none if a person does.
pub async fn own_task(engine: &Engine) -> Outcome<Option<TaskId>> {
    match engine.caller()?.clone() {
        Caller::Person => Ok(None),
        Caller::Agent { run, proof } => engine.call(ops::OwnTask { run, proof }).await,
    }
}

/// Refuses an agent a task that does not come from its own. People may do everything.
pub async fn check(engine: &Engine, task: TaskId) -> Outcome<()> {
    let Some(own) = own_task(engine).await? else { return Ok(()) };
    if descends(engine, task, own).await? {
        return Ok(());
    }
    Err(not_yours(&format!("task {task}"), own))
}

/// The same for a workflow.
pub async fn check_workflow(engine: &Engine, workflow: WorkflowId) -> Outcome<()> {
    let Some(own) = own_task(engine).await? else { return Ok(()) };
    if brought(engine, workflow, own).await? {
        return Ok(());
    }
    Err(not_yours(&format!("workflow {workflow}"), own))
}

fn not_yours(what: &str, own: TaskId) -> Problem {
    let message = format!("{what} does not come from task {own}, whose agent asks");
    Problem::new(Code::NotYours, message).hint(
        "an agent may see and end only what it started, and what that started; say in your report what you need",
    )
}

/// Whether a workflow was added by an agent that works on this task, or on one that comes from it.
pub async fn brought(engine: &Engine, workflow: WorkflowId, own: TaskId) -> Outcome<bool> {
    let detail = engine.call(ops::GetWorkflow { id: workflow, with_results: false }).await?;
    let Some(parent) = detail.workflow.spawn.parent else { return Ok(false) };
    let task = engine.call(ops::GetRun { run: parent }).await?.run.task;
    descends(engine, task, own).await
}

/// Whether a task is this one, or was added by an agent that works on it, or on one that was, and so on. All attempts at a
/// task count as one.
pub async fn descends(engine: &Engine, task: TaskId, own: TaskId) -> Outcome<bool> {
    let mut at = task;
    for _ in 0..MOST_GENERATIONS {
        if at == own {
            return Ok(true);
        }
        let Some(parent) = engine.call(ops::GetTask { id: at }).await?.task.spawn.parent else {
            return Ok(false);
        };
        at = engine.call(ops::GetRun { run: parent }).await?.run.task;
    }
    Ok(false)
}
