use fleet_api::verbs::task_show::{Answer, Neighbour, Request};
use fleet_api::views::{EventView, MessageView, RunView, TaskView};
use fleet_core::deps;
use fleet_core::task::TaskState;

use super::prelude::*;
use super::{lineage, question};
use crate::keeper::prior_tasks::start_branches;

/// `fleet prompt --status ID` shows all.
pub(super) const MAX_MESSAGES: i64 = 30;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let id = engine.task_id(&request.id).await?;
    let mut detail = engine.call(ops::GetTask { id }).await?;
    let is_visible = lineage::is_own(engine, id).await?;
    detail.runs.retain(|_| is_visible);
    // Without numbers they can be shown as well.
    let _ = engine.number_events().await;
    let limit = |most: i64| if is_visible { most } else { 0 };
    let events = engine.call(ops::TaskEvents { task: id, limit: limit(request.events.into()) }).await?;
    let messages = engine.call(newest_messages(engine, id, limit(MAX_MESSAGES))).await?;
    let now = engine.now();
    let messages: Vec<_> = messages.iter().map(|message| MessageView::new(message, now)).collect();
    let projects = engine.projects().await?;
    let project = projects.into_iter().find(|project| project.id == detail.task.project);
    let task = TaskView::new(&detail.task, now).described(&detail.task);
    let obstacle = if detail.task.open_deps > 0 { obstacle(engine, id).await? } else { None };
    let starts_from =
        if detail.after.is_empty() { Vec::new() } else { start_branches(engine, &detail.task).await? };
    let neighbours = |list: &[(TaskId, TaskState)]| {
        list.iter().map(|(id, state)| Neighbour { id: *id, state: *state }).collect()
    };
    Ok(Answer {
        default_agent: engine.config()?.agent().to_owned(),
        asked: question::asked_by(engine, &detail.runs).await?,
        task: task.behind(obstacle.as_ref()),
        project_name: project.map(|project| project.name).unwrap_or_default(),
        workflow_name: detail.part.as_ref().map(|part| part.workflow_name.clone()),
        stage: detail.part.as_ref().map(|part| part.name.clone()),
        after: neighbours(&detail.after),
        starts_from,
        before: neighbours(&detail.before),
        runs: detail.runs.iter().map(RunView::from).collect(),
        prompts: messages.clone(),
        messages,
        events: events.iter().map(EventView::from).collect(),
    })
}

pub(super) fn newest_messages(engine: &Engine, task: TaskId, limit: i64) -> ops::ListMessages {
    ops::ListMessages { of: ops::MessagesOf::Tasks(vec![task]), limit, now: engine.now() }
}

pub(super) async fn obstacle(engine: &Engine, id: TaskId) -> Outcome<Option<deps::Obstacle>> {
    let limit = ops::DependencyTree::EVERYTHING;
    let graph = engine.call(ops::DependencyTree { roots: vec![id], with_done: false, limit }).await?;
    let states = graph.nodes.iter().map(|(id, node)| (*id, node.state)).collect();
    Ok(deps::obstacle(&graph.edges, &states, id))
}
