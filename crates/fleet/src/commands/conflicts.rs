use clap::Args;
use fleet_api::verbs::conflicts::{Answer, Conflict, ConflictSide, Request};
use fleet_core::conflict::Clash;
use fleet_core::text::escaped;

use super::Context;
use crate::Done;
use crate::output::{alarm, count, dim, strong, warn};

/// Find conflicts between tasks before you merge
///
/// Looks at every branch of an agent that has not landed, work in progress included, and at the file scopes of open tasks.
/// `merge`: git cannot merge the two, or the one and the current commit. `files`: both changed the same files, and git can
/// merge them. `scope`: they claim the same files, so they never run together. Nothing is changed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 140)]
pub(crate) struct Conflicts {
    #[command(flatten)]
    request: Request,
}

const EXAMPLES: &str = "Examples:
  fleet conflicts
  fleet conflicts t0skybe7
  fleet conflicts --json | jq -r '.conflicts[] | select(.kind == \"merge\") | .files[]'";

/// So many files of a conflict are shown.
const SHOWN: usize = 6;

impl Conflicts {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let found = context.call(self.request).await?;
        let unseen =
            found.unseen.iter().map(|one| format!("{} could not be read: {}", one.task, escaped(&one.why)));
        let pairs = (found.unchecked > 0).then(|| count(found.unchecked, "pair"));
        let pairs =
            pairs.map(|pairs| format!("{pairs} more were not merged; name a task to look at its own"));
        let more = "there are more tasks than were compared, the newest: name one to look at its own";
        let more = unseen.chain(pairs).chain(found.more.then(|| more.to_owned()));
        context.output.show_list(&found, None, || render(&found), more)
    }
}

fn render(found: &Answer) -> String {
    if found.conflicts.is_empty() {
        return format!("no conflicts among {}", count(found.looked_at, "task"));
    }
    found.conflicts.iter().map(conflict).collect::<Vec<_>>().join("\n\n")
}

fn conflict(conflict: &Conflict) -> String {
    let kind = match conflict.kind {
        Clash::Merge => alarm(conflict.kind.as_str()),
        Clash::Files => warn(conflict.kind.as_str()),
        Clash::Scope => dim(conflict.kind.as_str()),
    };
    let mut lines = vec![match &conflict.with {
        Some(with) => format!("{kind}  with {}", escaped(with)),
        None => kind,
    }];
    lines.extend(conflict.tasks.iter().map(|task| format!("  {}", side(task))));
    lines.extend(conflict.files.iter().take(SHOWN).map(|file| format!("    {}", escaped(file))));
    lines.extend(more(conflict.file_count.saturating_sub(SHOWN as u64)));
    let scopes = conflict.scopes.iter().take(SHOWN);
    lines.extend(scopes.map(|(a, b)| format!("    {} {} {}", escaped(a), dim("and"), escaped(b))));
    lines.extend(more(conflict.scopes.len().saturating_sub(SHOWN) as u64));
    lines.push(format!("  {} {}", dim("→"), escaped(&conflict.advice)));
    lines.join("\n")
}

/// That some are not shown, if so.
fn more(left_out: u64) -> Option<String> {
    (left_out > 0).then(|| dim(&format!("    and {left_out} more: --json shows more")))
}

fn side(side: &ConflictSide) -> String {
    let branch = side.branch.as_deref().map(|branch| format!("  {}", escaped(branch))).unwrap_or_default();
    format!("{}  {}{}  {}", strong(side.task.as_str()), side.status, dim(&branch), escaped(&side.title))
}
