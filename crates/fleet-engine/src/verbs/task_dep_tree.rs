use fleet_api::verbs::task_dep_tree::{Answer, Request, TreeNode};

use super::prelude::*;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let root = engine.task_id(&request.id).await?;
    let limit = ops::DependencyTree::EVERYTHING;
    let graph = engine.call(ops::DependencyTree { roots: vec![root], with_done: true, limit }).await?;
    let after = |id: TaskId| graph.edges.iter().filter(|edge| edge.task == id).map(|edge| edge.on).collect();
    let nodes = graph.nodes.iter().map(|(id, node)| TreeNode {
        id: *id,
        state: node.state,
        title: node.title.clone(),
        after: after(*id),
    });
    Ok(Answer { root, nodes: nodes.collect() })
}
