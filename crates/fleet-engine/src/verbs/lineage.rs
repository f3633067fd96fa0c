//! Whose task a task or a workflow is: agents may act only on what comes from their own.
//!
//! What a request names is checked in front of the table of verbs. A verb that works on a set which its request does not
//! name narrows the set here.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use fleet_core::id::WorkflowId;
use fleet_core::project::Project;

use super::prelude::*;

/// More generations than any setting allows.
const MAX_GENERATIONS: usize = 64;

/// The task on which the agent works that asks; none if a person does.
pub(crate) fn own_task(engine: &Engine) -> Outcome<Option<TaskId>> {
    Ok(engine.caller()?.agent().map(|agent| agent.task))
}

/// The project of the task on which the agent works that asks; none if a person does.
pub(crate) fn own_project(engine: &Engine) -> Outcome<Option<&Project>> {
    Ok(engine.caller()?.agent().map(|agent| &agent.project))
}

/// Refuses an agent a task of another project than its own.
pub(crate) async fn check_project(engine: &Engine, task: TaskId) -> Outcome<()> {
    let Some(own) = own_project(engine)?.map(|project| project.id) else { return Ok(()) };
    if engine.call(ops::GetTask { id: task }).await?.task.project == own {
        return Ok(());
    }
    Err(elsewhere(&format!("task {task} belongs to another repository")))
}

/// Refuses an agent that asks from another repository than its own, and from a folder that only pretends to be a checkout of
/// it: git would follow the settings that such a folder brings, and run the programs that they name.
pub(crate) fn check_place(engine: &Engine) -> Outcome<()> {
    let Some(agent) = engine.caller()?.agent() else { return Ok(()) };
    let Ok(repository) = engine.repository() else { return Ok(()) };
    if engine.common_dir()? != agent.project.common_dir {
        return Err(elsewhere("the directory is of another one"));
    }
    if engine.surrounding().is_some() || repository.is_registered() {
        return Ok(());
    }
    Err(elsewhere("the directory is not a checkout that the repository knows"))
}

pub(crate) fn check_all_projects(engine: &Engine, all_projects: bool) -> Outcome<()> {
    match engine.caller()?.run() {
        Some(_) if all_projects => Err(elsewhere("all_projects")),
        _ => Ok(()),
    }
}

/// The refusal of what belongs to another repository than that of the agent.
pub(crate) fn elsewhere(what: &str) -> Problem {
    Problem::new(Code::NotYours, format!("{what}: an agent sees only the backlog of its own repository"))
        .hint("leave out what names another one")
}

/// Refuses an agent a task that does not come from its own. People may do everything.
pub(crate) async fn check(engine: &Engine, task: TaskId) -> Outcome<()> {
    let Some(own) = own_task(engine)? else { return Ok(()) };
    if descends(engine, task, own).await? {
        return Ok(());
    }
    Err(not_yours(&format!("task {task}"), own))
}

/// Whether the caller may see all of a task: a person, or an agent that it comes from.
pub(super) async fn is_own(engine: &Engine, task: TaskId) -> Outcome<bool> {
    match own_task(engine)? {
        Some(own) => descends(engine, task, own).await,
        None => Ok(true),
    }
}

/// The same for a run; the task that it works on.
pub(crate) async fn check_run(engine: &Engine, run: RunId) -> Outcome<TaskId> {
    let task = engine.call(ops::GetRun { run }).await?.run.task;
    check(engine, task).await?;
    Ok(task)
}

/// Leaves out of a list what does not come from the task of the agent that asks. `task` says what each is about.
pub(crate) async fn retain_own<T>(engine: &Engine, list: &mut Vec<T>, task: fn(&T) -> TaskId) -> Outcome<()> {
    let Some(own) = own_task(engine)? else { return Ok(()) };
    let mut known: BTreeMap<TaskId, bool> = BTreeMap::new();
    for id in list.iter().map(task) {
        if let Entry::Vacant(unknown) = known.entry(id) {
            unknown.insert(descends(engine, id, own).await?);
        }
    }
    list.retain(|one| known.get(&task(one)).copied().unwrap_or_default());
    Ok(())
}

/// Refuses an agent a workflow that does not come from its own task.
pub(crate) async fn check_workflow(engine: &Engine, workflow: WorkflowId) -> Outcome<()> {
    let Some(own) = own_task(engine)? else { return Ok(()) };
    if was_added_by(engine, workflow, own).await? {
        return Ok(());
    }
    Err(not_yours(&format!("workflow {workflow}"), own))
}

fn not_yours(what: &str, own: TaskId) -> Problem {
    let message = format!("{what} is not yours: task {own} did not start it");
    Problem::new(Code::NotYours, message).hint(
        "an agent may see and end only what it started, and what that started; say in your report what you need",
    )
}

/// Whether a workflow was added by an agent that works on this task, or on one that comes from it.
pub(crate) async fn was_added_by(engine: &Engine, workflow: WorkflowId, own: TaskId) -> Outcome<bool> {
    let detail = engine.call(ops::GetWorkflow { id: workflow, with_results: false }).await?;
    let Some(parent) = detail.workflow.spawn.parent else { return Ok(false) };
    let task = engine.call(ops::GetRun { run: parent }).await?.run.task;
    descends(engine, task, own).await
}

/// Whether a task is this one, or was added by an agent that works on it, or on one that was, and so on. All attempts at a
/// task count as one.
pub(crate) async fn descends(engine: &Engine, task: TaskId, own: TaskId) -> Outcome<bool> {
    let mut at = task;
    for _ in 0..MAX_GENERATIONS {
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
