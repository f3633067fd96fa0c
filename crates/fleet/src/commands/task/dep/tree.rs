use std::collections::{BTreeMap, BTreeSet};

use fleet_api::verbs::task_dep_tree::{Answer, TreeNode};
use fleet_core::id::TaskId;
use fleet_core::text::escaped;
use fleet_core::time::Millis;

use crate::output::{dim, paint_status, strong};

command! {
    /// Show everything that a task waits for, directly or not
    #[command(display_order = 30)]
    Tree(task_dep_tree) shows draw
}

/// What is drawn next: a task, what stands before it, and whether its line continues below.
struct TreeLine {
    id: TaskId,
    indent: String,
    mark: &'static str,
    below: &'static str,
}

fn draw(tree: &Answer, _: Millis) -> String {
    let nodes: BTreeMap<TaskId, &TreeNode> = tree.nodes.iter().map(|node| (node.id, node)).collect();
    let mut drawn = BTreeSet::new();
    let mut lines = Vec::new();
    let mut stack = vec![TreeLine { id: tree.root, indent: String::new(), mark: "", below: "" }];
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
            stack.push(TreeLine { id: *id, indent: indent.clone(), mark, below });
        }
    }
    lines.join("\n")
}
