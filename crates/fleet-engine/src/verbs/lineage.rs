//! Whose task a task or a workflow is: agents may act only on what comes from their own.
//!
//! Every verb that changes something asks here, once it knows what is meant. Whoever only shows something to a program of
//! an agent asks here itself.

use fleet_core::id::{ProjectId, RunId, TaskId, WorkflowId};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_store::ops;

use crate::Engine;
use crate::caller::{Caller, is_inside_a_run};

/// More generations than any setting allows.
const MOST_GENERATIONS: usize = 64;

/// The task on which the agent works that asks; none if a person does.
pub async fn own_task(engine: &Engine) -> Outcome<Option<TaskId>> {
    match engine.caller()?.clone() {
        Caller::Person => Ok(None),
        Caller::Agent { run, proof } => engine.call(ops::OwnTask { run, proof }).await,
    }
}

/// The project of the task on which the agent works that asks; none if a person does.
pub async fn own_project(engine: &Engine) -> Outcome<Option<ProjectId>> {
    let Some(own) = own_task(engine).await? else { return Ok(None) };
    Ok(Some(engine.call(ops::GetTask { id: own }).await?.task.project))
}

/// Refuses an agent a task of another project than its own.
pub async fn check_project(engine: &Engine, task: TaskId) -> Outcome<()> {
    let Some(own) = own_project(engine).await? else { return Ok(()) };
    if engine.call(ops::GetTask { id: task }).await?.task.project == own {
        return Ok(());
    }
    Err(elsewhere(&format!("task {task} belongs to another repository")))
}

/// The refusal of what belongs to another repository than that of the agent.
pub fn elsewhere(what: &str) -> Problem {
    Problem::new(Code::NotYours, format!("{what}: an agent sees the backlog of its own repository only"))
        .hint("leave out what names another one")
}

/// Refuses an agent a task that does not come from its own. People may do everything.
pub async fn check(engine: &Engine, task: TaskId) -> Outcome<()> {
    let Some(own) = own_task(engine).await? else { return Ok(()) };
    if descends(engine, task, own).await? {
        return Ok(());
    }
    Err(not_yours(&format!("task {task}"), own))
}

/// The same for a run; the task that it works on.
pub async fn check_run(engine: &Engine, run: RunId) -> Outcome<TaskId> {
    let task = engine.call(ops::GetRun { run }).await?.run.task;
    check(engine, task).await?;
    Ok(task)
}

/// The same for several: all of them, or none.
pub(super) async fn check_all(engine: &Engine, tasks: impl IntoIterator<Item = TaskId>) -> Outcome<()> {
    let Some(own) = own_task(engine).await? else { return Ok(()) };
    for task in tasks {
        if !descends(engine, task, own).await? {
            return Err(not_yours(&format!("task {task}"), own));
        }
    }
    Ok(())
}

/// Refuses an agent what is about everybody's work. `what` completes "only people can".
pub fn people_only(engine: &Engine, what: &str) -> Outcome<()> {
    if !is_inside_a_run(engine)? {
        return Ok(());
    }
    let message = format!("only people can {what}");
    Err(Problem::new(Code::NotYours, message).hint("say in your report what you need; a person can do it"))
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
