use fleet_api::verbs::workflow_clean::{Answer, Request};
use fleet_api::views::WorkflowView;
use fleet_core::id::WorkflowId;
use fleet_core::tidy::CleanReach;
use fleet_core::workflow::{Workflow, WorkflowState};

use super::clean::{self, CleanPlan, CleanWish};
use super::prelude::*;
use super::{lineage, task_clean, workflow_cancel};

/// At most this many workflows are considered, newest first.
const MAX_WORKFLOWS: i64 = 10_000;

/// Removes them, or says what would go. A branch that stays keeps its workflow, which is needed to find it again.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let mut answer = Answer {
        dry_run: request.dry_run,
        deleted: Vec::new(),
        removed: Vec::new(),
        kept: Vec::new(),
        workflows: Vec::new(),
    };
    // All are looked at before any goes: one that cannot keeps the others.
    for (workflow, mut plan) in plans(engine, &request).await? {
        let id = workflow.id;
        answer.workflows.push(workflow);
        let done = if request.dry_run {
            plan.previewed()
        } else {
            plan.confirm(request.confirmed.as_deref());
            clean::remove_all(engine, plan).await?
        };
        if done.kept.is_empty() {
            if !request.dry_run {
                engine.call(ops::DeleteWorkflow { id, now: engine.now() }).await?;
            }
            answer.deleted.push(id);
        }
        answer.removed.extend(done.removed);
        answer.kept.extend(done.kept);
    }
    Ok(answer)
}

async fn plans(engine: &Engine, request: &Request) -> Outcome<Vec<(WorkflowView, CleanPlan)>> {
    let reach = if request.discard { CleanReach::All } else { CleanReach::Landed };
    let (mut plans, wish) = (Vec::new(), CleanWish { reach, named: &[] });
    for id in ids(engine, request).await? {
        lineage::check_workflow(engine, id).await?;
        let detail = engine.call(ops::GetWorkflow { id, with_results: false }).await?;
        refuse_live(&detail.workflow)?;
        // The last stage may have ended just now, and its worktree not be given back yet.
        let runs: Vec<RunId> = detail.parts.iter().filter_map(|part| Some(part.run.as_ref()?.id)).collect();
        task_clean::wait_until_tidy(engine.home(), &runs).await;
        let tasks = detail.parts.iter().filter_map(|part| part.task.as_ref());
        let tasks: Vec<TaskId> = tasks.map(|task| task.id).collect();
        // Before any branch is removed: afterwards it would be too late to refuse.
        match engine.call(ops::CheckDelete { tasks: tasks.clone() }).await {
            Err(problem) if request.all_finished && problem.code == Code::HasDependents => continue,
            checked => checked?,
        }
        let plan = clean::plan_of_tasks(engine, detail.workflow.project, &tasks, wish).await?;
        plans.push((WorkflowView::from(&detail.workflow), plan));
    }
    Ok(plans)
}

async fn ids(engine: &Engine, request: &Request) -> Outcome<Vec<WorkflowId>> {
    if request.all_finished {
        let Some(project) = engine.known_project().await? else { return Ok(Vec::new()) };
        let states = WorkflowState::ALL.iter().copied().filter(|state| state.is_over()).collect();
        let list =
            ops::ListWorkflows { project: Some(project.id), states, before: None, limit: MAX_WORKFLOWS };
        return Ok(engine.call(list).await?.workflows.iter().map(|listed| listed.workflow.id).collect());
    }
    workflow_cancel::ids(engine, &request.ids).await
}

fn refuse_live(workflow: &Workflow) -> Result<(), Problem> {
    if workflow.state.is_over() {
        return Ok(());
    }
    Err(problems::store(StoreError::WorkflowLive { workflow: workflow.id, from: workflow.state() }))
}
