//! `fleet task dep …`

use std::collections::{BTreeMap, BTreeSet};

use clap::{Args, Subcommand};
use fleet_core::id::TaskId;
use fleet_core::text::escaped;
use fleet_engine::verbs::task_dep::{self, Node, Request, Tree};

use super::super::Context;
use super::moved;
use crate::Done;
use crate::output::{dim, paint_status, strong};

/// Dependencies: what a task waits for
#[derive(Debug, Subcommand)]
pub(crate) enum Dep {
    /// Make a task wait for others
    Add(Edges),
    /// Make a task wait for others no longer
    #[command(visible_alias = "rm")]
    Remove(Edges),
    /// Show everything that a task waits for, directly or not
    Tree(Root),
}

#[derive(Debug, Args)]
pub(crate) struct Edges {
    /// The task that waits
    id: String,
    /// The tasks that come first
    #[arg(required = true, value_name = "ON")]
    on: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Root {
    /// The task
    id: String,
}

impl Dep {
    pub(crate) async fn run(self, context: &Context) -> Done {
        match self {
            Self::Add(Edges { id, on }) => {
                moved(context, &[task_dep::add(&context.engine, Request { id, on }).await?])
            }
            Self::Remove(Edges { id, on }) => {
                let task = task_dep::remove(&context.engine, Request { id, on }).await?;
                context.work_was_queued();
                moved(context, &[task])
            }
            Self::Tree(Root { id }) => {
                let tree = task_dep::tree(&context.engine, &id).await?;
                context.output.show(&tree, || draw(&tree))
            }
        }
    }
}

/// What is drawn next: a task, what stands before it, and whether its line continues below.
struct Branch {
    id: TaskId,
    indent: String,
    mark: &'static str,
    below: &'static str,
}

fn draw(tree: &Tree) -> String {
    let nodes: BTreeMap<TaskId, &Node> = tree.nodes.iter().map(|node| (node.id, node)).collect();
    let mut drawn = BTreeSet::new();
    let mut lines = Vec::new();
    let mut stack = vec![Branch { id: tree.root, indent: String::new(), mark: "", below: "" }];
    while let Some(branch) = stack.pop() {
        let Some(node) = nodes.get(&branch.id) else { continue };
        let again = !drawn.insert(branch.id) && !node.after.is_empty();
        let more = if again { dim("  (see above)") } else { String::new() };
        let (id, state) = (strong(node.id.as_str()), paint_status(node.state.as_str()));
        lines.push(format!("{}{}{id}  {state}  {}{more}", branch.indent, branch.mark, escaped(&node.title)));
        if again {
            continue;
        }
        let indent = format!("{}{}", branch.indent, branch.below);
        let last = node.after.len().saturating_sub(1);
        for (at, id) in node.after.iter().enumerate().rev() {
            let (mark, below) = if at == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            stack.push(Branch { id: *id, indent: indent.clone(), mark, below });
        }
    }
    lines.join("\n")
}
