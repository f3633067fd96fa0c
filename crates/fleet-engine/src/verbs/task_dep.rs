//! Dependencies: add, remove, show.

use fleet_core::deps::Edge;
use fleet_core::id::TaskId;
use fleet_core::problem::Outcome;
use fleet_core::task::TaskState;
use fleet_store::ops;
use serde::Serialize;

use super::lineage;
use crate::Engine;
use crate::views::TaskView;

/// Which task waits for which.
#[derive(Debug, Clone)]
pub struct Request {
    /// The one that waits: its id or the beginning of it.
    pub id: String,
    /// Those that it waits for.
    pub on: Vec<String>,
}

/// Makes a task wait for others: for all of those named, or none.
pub async fn add(engine: &Engine, request: Request) -> Outcome<TaskView> {
    let (task, edges) = edges(engine, &request).await?;
    let now = engine.now();
    engine.call(ops::All(edges.into_iter().map(|edge| ops::AddDependency { edge, now }).collect())).await?;
    view(engine, task).await
}

/// Makes a task wait for others no longer: for all of those named, or none.
pub async fn remove(engine: &Engine, request: Request) -> Outcome<TaskView> {
    let (task, edges) = edges(engine, &request).await?;
    let now = engine.now();
    engine
        .call(ops::All(edges.into_iter().map(|edge| ops::RemoveDependency { edge, now }).collect()))
        .await?;
    view(engine, task).await
}

async fn edges(engine: &Engine, request: &Request) -> Outcome<(TaskId, Vec<Edge>)> {
    let task = engine.task_id(&request.id).await?;
    lineage::check(engine, task).await?;
    let on = engine.task_ids(&request.on).await?;
    Ok((task, on.into_iter().map(|on| Edge { task, on }).collect()))
}

async fn view(engine: &Engine, id: TaskId) -> Outcome<TaskView> {
    let task = engine.call(ops::GetTask { id }).await?.task;
    let obstacle = if task.open_deps > 0 { super::task_show::obstacle(engine, id).await? } else { None };
    Ok(TaskView::new(&task, engine.now()).behind(obstacle.as_ref()))
}

/// One task of a tree.
#[derive(Debug, Clone, Serialize)]
pub struct Node {
    /// Its id.
    pub id: TaskId,
    /// Where it stands.
    pub state: TaskState,
    /// What it is.
    pub title: String,
    /// What it waits for; only ids that are among the nodes.
    pub after: Vec<TaskId>,
}

/// A task and everything that it waits or waited for, directly or not.
#[derive(Debug, Clone, Serialize)]
pub struct Tree {
    /// Where the tree begins.
    pub root: TaskId,
    /// The root and everything behind it.
    pub nodes: Vec<Node>,
}

/// Shows what a task waits for.
pub async fn tree(engine: &Engine, id: &str) -> Outcome<Tree> {
    let root = engine.task_id(id).await?;
    let limit = ops::DependencyTree::EVERYTHING;
    let graph = engine.call(ops::DependencyTree { roots: vec![root], with_done: true, limit }).await?;
    let after = |id: TaskId| graph.edges.iter().filter(|edge| edge.task == id).map(|edge| edge.on).collect();
    let nodes = graph.nodes.iter().map(|(id, node)| Node {
        id: *id,
        state: node.state,
        title: node.title.clone(),
        after: after(*id),
    });
    Ok(Tree { root, nodes: nodes.collect() })
}
