use std::collections::BTreeMap;

use fleet_api::verbs::workflow_list::{Answer, Request};
use fleet_api::views::WorkflowView;
use fleet_core::workflow::WorkflowState;

use super::lineage;
use super::prelude::*;
use super::workflow_show::meant;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let states = states(&request)?;
    let limit = request.limit.map_or(engine.config()?.tasks().list_limit, |limit| limit);
    let before = match &request.before {
        Some(typed) => Some(meant(engine, typed).await?),
        None => None,
    };
    let project =
        if request.all_projects { None } else { engine.known_project().await?.map(|project| project.id) };
    if project.is_none() && !request.all_projects {
        return Ok(Answer { workflows: Vec::new(), next: None, projects: BTreeMap::new() });
    }
    let list = ops::ListWorkflows { project, states, before, limit: limit.into() };
    let page = engine.call(list).await?;
    let mut workflows: Vec<WorkflowView> =
        page.workflows.iter().map(|listed| WorkflowView::from(&listed.workflow)).collect();
    let projects = page.workflows.into_iter().map(|listed| (listed.workflow.project, listed.project_name));
    let projects = projects.collect();
    let next = workflows.last().map(|workflow| workflow.id).filter(|_| page.more);
    if let Some(own) = lineage::own_task(engine)? {
        let mut brought = Vec::new();
        for workflow in workflows {
            if lineage::was_added_by(engine, workflow.id, own).await? {
                brought.push(workflow);
            }
        }
        workflows = brought;
    }
    Ok(Answer { workflows, next, projects })
}

fn states(request: &Request) -> Outcome<Vec<WorkflowState>> {
    let named = |text: &String| {
        text.parse::<WorkflowState>().map_err(|error| Problem::field("state", error.to_string()))
    };
    match (request.states.as_slice(), request.all) {
        ([], true) => Ok(WorkflowState::ALL.to_vec()),
        ([], false) => Ok(WorkflowState::ALL.iter().copied().filter(|state| !state.is_over()).collect()),
        (states, _) => states.iter().map(named).collect(),
    }
}
