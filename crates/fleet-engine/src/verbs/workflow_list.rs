//! Lists workflows, the newest first.

use std::collections::BTreeMap;

use fleet_core::id::{ProjectId, WorkflowId};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::workflow::WorkflowState;
use fleet_store::ops;
use serde::Serialize;

use super::workflow_show::meant;
use crate::Engine;
use crate::views::WorkflowView;

/// Which workflows.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Only in these states; empty is all that are not over.
    pub states: Vec<String>,
    /// Those that are over, too.
    pub all: bool,
    /// Of every project instead of the directory's.
    pub all_projects: bool,
    /// So many at most; `None` is what is configured for lists.
    pub limit: Option<u32>,
    /// Only those older than this one.
    pub before: Option<String>,
}

/// Some workflows, the newest first.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// The workflows.
    pub workflows: Vec<WorkflowView>,
    /// If there are more: the one before which they come.
    pub next: Option<WorkflowId>,
    /// The names of their projects.
    pub projects: BTreeMap<ProjectId, String>,
}

/// Lists them.
pub async fn run(engine: &Engine, request: Request) -> Outcome<Response> {
    let states = states(&request)?;
    let limit = request.limit.map_or(engine.config()?.list_limit(), |limit| limit);
    let before = match &request.before {
        Some(typed) => Some(meant(engine, typed).await?),
        None => None,
    };
    let project =
        if request.all_projects { None } else { engine.known_project().await?.map(|project| project.id) };
    if project.is_none() && !request.all_projects {
        return Ok(Response { workflows: Vec::new(), next: None, projects: BTreeMap::new() });
    }
    let list = ops::ListWorkflows { project, states, before, limit: limit.into() };
    let page = engine.call(list).await?;
    let workflows: Vec<WorkflowView> =
        page.workflows.iter().map(|listed| WorkflowView::from(&listed.workflow)).collect();
    let projects = page.workflows.into_iter().map(|listed| (listed.workflow.project, listed.project_name));
    let projects = projects.collect();
    let next = workflows.last().map(|workflow| workflow.id).filter(|_| page.more);
    Ok(Response { workflows, next, projects })
}

fn states(request: &Request) -> Outcome<Vec<WorkflowState>> {
    let named = |text: &String| {
        text.parse::<WorkflowState>()
            .map_err(|error| Problem::new(Code::InvalidValue, format!("state: {error}")))
    };
    match (request.states.as_slice(), request.all) {
        ([], true) => Ok(WorkflowState::ALL.to_vec()),
        ([], false) => Ok(WorkflowState::ALL.iter().copied().filter(|state| !state.is_over()).collect()),
        (states, _) => states.iter().map(named).collect(),
    }
}
