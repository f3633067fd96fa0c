//! Shows one task with what surrounds it.

use fleet_core::deps;
use fleet_core::id::TaskId;
use fleet_core::problem::Outcome;
use fleet_core::task::TaskState;
use fleet_store::ops;
use serde::Serialize;

use crate::Engine;
use crate::views::{EventView, PromptView, RunView, TaskView};

/// Which task.
#[derive(Debug, Clone)]
pub struct Request {
    /// Its id or the beginning of it.
    pub id: String,
    /// So many of its newest events.
    pub events: u32,
}

/// A task that this one waits for, or that waits for it.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json.md describes each field")]
pub struct Neighbour {
    pub id: TaskId,
    pub state: TaskState,
}

/// A task with what surrounds it.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// The task.
    #[serde(flatten)]
    pub task: TaskView,
    /// Its repository.
    pub project_name: String,
    /// What the workflow is called of which it is a stage.
    pub workflow_name: Option<String>,
    /// What it is called there.
    pub stage: Option<String>,
    /// What it waits or waited for.
    pub after: Vec<Neighbour>,
    /// What waits for it.
    pub before: Vec<Neighbour>,
    /// Its runs, oldest first.
    pub runs: Vec<RunView>,
    /// Its newest prompts, oldest of them first.
    pub prompts: Vec<PromptView>,
    /// Its newest events, oldest of them first.
    pub events: Vec<EventView>,
}

/// As many as may wait, and some that were passed on.
const MOST_PROMPTS: i64 = 30;

/// Shows the task.
pub async fn run(engine: &Engine, request: Request) -> Outcome<Response> {
    let id = engine.task_id(&request.id).await?;
    let detail = engine.call(ops::GetTask { id }).await?;
    // Without numbers they can be shown as well.
    let _ = engine.number_events().await;
    let events = engine.call(ops::TaskEvents { task: id, limit: request.events.into() }).await?;
    let prompts = engine.call(ops::TaskPrompts { task: id, limit: MOST_PROMPTS }).await?;
    let projects = engine.projects().await?;
    let project = projects.into_iter().find(|project| project.id == detail.task.project);
    let task = TaskView::new(&detail.task, engine.now()).described(&detail.task);
    let obstacle = if detail.task.open_deps > 0 { obstacle(engine, id).await? } else { None };
    let neighbours = |list: &[(TaskId, TaskState)]| {
        list.iter().map(|(id, state)| Neighbour { id: *id, state: *state }).collect()
    };
    Ok(Response {
        task: task.behind(obstacle.as_ref()),
        project_name: project.map(|project| project.name).unwrap_or_default(),
        workflow_name: detail.stage.as_ref().map(|stage| stage.workflow_name.clone()),
        stage: detail.stage.as_ref().map(|stage| stage.name.clone()),
        after: neighbours(&detail.after),
        before: neighbours(&detail.before),
        runs: detail.runs.iter().map(RunView::from).collect(),
        prompts: prompts.iter().map(PromptView::from).collect(),
        events: events.iter().map(EventView::from).collect(),
    })
}

/// What stands in the way of a blocked task.
pub(super) async fn obstacle(engine: &Engine, id: TaskId) -> Outcome<Option<deps::Obstacle>> {
    let limit = ops::DependencyTree::EVERYTHING;
    let graph = engine.call(ops::DependencyTree { roots: vec![id], with_done: false, limit }).await?;
    let states = graph.nodes.iter().map(|(id, node)| (*id, node.state)).collect();
    Ok(deps::obstacle(&graph.edges, &states, id))
}
