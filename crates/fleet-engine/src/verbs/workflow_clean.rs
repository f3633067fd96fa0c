//! Removes workflows that are over, with the branches and folders of their stages.

use fleet_core::id::{RunId, TaskId, WorkflowId};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::tidy::Reach;
use fleet_core::workflow::{Workflow, WorkflowState};
use fleet_store::{StoreError, ops};
use serde::Serialize;

use super::clean::{self, Item, Kept};
use super::workflow_show::meant;
use super::{lineage, task_clean};
use crate::home::Home;
use crate::views::WorkflowView;
use crate::{Engine, problems};

/// Which workflows.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Ids, beginnings of ids, or names.
    pub ids: Vec<String>,
    /// All of the directory's project that are over, instead.
    pub all_finished: bool,
    /// Branches that have not landed, too. They are kept for `fleet undo`.
    pub discard: bool,
}

/// What may go, and what stays.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Each workflow that is meant.
    pub workflows: Vec<PlannedWorkflow>,
}

/// A workflow that is over.
#[derive(Debug, Clone)]
pub struct PlannedWorkflow {
    /// The workflow.
    pub workflow: WorkflowView,
    plan: clean::Plan,
}

impl PlannedWorkflow {
    /// Whether it goes: one of which a branch stays is needed to find that again.
    pub fn goes(&self) -> bool {
        self.plan.keep.is_empty()
    }
}

impl Plan {
    /// The branches and folders that go.
    pub fn items(&self) -> Vec<Item> {
        self.workflows.iter().flat_map(|one| one.plan.remove.clone()).collect()
    }

    /// What stays, and why.
    pub fn kept(&self) -> Vec<Kept> {
        self.workflows.iter().flat_map(|one| one.plan.keep.clone()).collect()
    }
}

/// What was done.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// Always false: here something was done.
    pub dry_run: bool,
    /// The workflows that are gone.
    pub deleted: Vec<WorkflowId>,
    /// The branches and folders that are gone.
    pub removed: Vec<Item>,
    /// What stays, and why.
    pub kept: Vec<Kept>,
}

/// So many workflows are looked at, the newest first.
const MOST: i64 = 10_000;

/// Looks at them, and changes nothing.
pub async fn plan(engine: &Engine, request: Request) -> Outcome<Plan> {
    let reach = if request.discard { Reach::All } else { Reach::Landed };
    let mut plan = Plan { workflows: Vec::new() };
    for id in ids(engine, &request).await? {
        let detail = engine.call(ops::GetWorkflow { id, with_results: false }).await?;
        refuse_live(&detail.workflow)?;
        // The last stage may have ended just now, and its worktree not be given back yet.
        let runs: Vec<RunId> = detail.parts.iter().filter_map(|part| Some(part.run.as_ref()?.id)).collect();
        task_clean::tidied(&Home::new(engine.home()), &runs).await;
        let tasks = detail.parts.iter().filter_map(|part| part.task.as_ref());
        let tasks: Vec<TaskId> = tasks.map(|task| task.id).collect();
        // Before any branch is removed: afterwards it would be too late to refuse.
        match engine.call(ops::CheckDelete { tasks: tasks.clone() }).await {
            Err(problem) if request.all_finished && problem.code == Code::HasDependents => continue,
            checked => checked?,
        }
        plan.workflows.push(PlannedWorkflow {
            workflow: WorkflowView::from(&detail.workflow),
            plan: clean::plan_of_tasks(engine, detail.workflow.project, &tasks, reach).await?,
        });
    }
    Ok(plan)
}

async fn ids(engine: &Engine, request: &Request) -> Outcome<Vec<WorkflowId>> {
    if request.all_finished {
        let Some(project) = engine.known_project().await? else { return Ok(Vec::new()) };
        let states = WorkflowState::ALL.iter().copied().filter(|state| state.is_over()).collect();
        let list = ops::ListWorkflows { project: Some(project.id), states, before: None, limit: MOST };
        return Ok(engine.call(list).await?.workflows.iter().map(|listed| listed.workflow.id).collect());
    }
    let mut ids = Vec::new();
    for text in &request.ids {
        let id = meant(engine, text).await?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

fn refuse_live(workflow: &Workflow) -> Result<(), Problem> {
    if workflow.state.is_over() {
        return Ok(());
    }
    Err(problems::store(StoreError::WorkflowLive { workflow: workflow.id, from: workflow.state }))
}

/// Removes what the plan says. A branch that has changed since then stays, and with it its workflow.
pub async fn run(engine: &Engine, plan: Plan) -> Outcome<Response> {
    let mut response =
        Response { dry_run: false, deleted: Vec::new(), removed: Vec::new(), kept: Vec::new() };
    for one in &plan.workflows {
        lineage::check_workflow(engine, one.workflow.id).await?;
    }
    for one in plan.workflows {
        let id = one.workflow.id;
        let done = clean::remove_all(engine, one.plan).await?;
        if done.kept.is_empty() {
            engine.call(ops::DeleteWorkflow { id, now: engine.now() }).await?;
            response.deleted.push(id);
        }
        response.removed.extend(done.removed);
        response.kept.extend(done.kept);
    }
    Ok(response)
}
