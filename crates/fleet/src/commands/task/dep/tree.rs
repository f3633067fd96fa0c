use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use fleet_api::verbs::task_dep_tree::{Answer, Node, Request};
use fleet_core::id::TaskId;
use fleet_core::text::escaped;

use crate::Done;
use crate::commands::Context;
use crate::output::{dim, paint_status, strong};

/// Show everything that a task waits for, directly or not
#[derive(Debug, Args)]
#[command(display_order = 30)]
pub(crate) struct Tree {
    #[command(flatten)]
    request: Request,
}

impl Tree {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let tree = context.call(self.request).await?;
        context.output.show(&tree, || draw(&tree))
    }
}

/// What is drawn next: a task, what stands before it, and whether its line continues below.
struct Branch {
    id: TaskId,
    indent: String,
    mark: &'static str,
    below: &'static str,
}

fn draw(tree: &Answer) -> String {
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
