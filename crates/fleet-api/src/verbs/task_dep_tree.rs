use fleet_core::task::TaskState;

use crate::prelude::*;

/// Shows a task and everything that it waits or waited for, directly or not.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The task
    pub id: String,
}

/// One task of a tree.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TreeNode {
    /// Its id.
    pub id: TaskId,
    /// Its state.
    pub state: TaskState,
    /// What it is.
    pub title: String,
    /// What it waits for; only ids that are among the nodes.
    pub after: Vec<TaskId>,
}

/// A task and everything behind it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Where the tree begins.
    pub root: TaskId,
    /// The root and everything behind it.
    pub nodes: Vec<TreeNode>,
}

verb!("task.dep.tree", Request => Answer, Reads, Project, |request| vec![Subject::Task(&mut request.id)]);
