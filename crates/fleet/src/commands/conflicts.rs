use clap::Args;
use fleet_api::verbs::conflicts::{Answer, Conflict, Request, Side};
use fleet_core::conflict::Clash;
use fleet_core::text::escaped;

use super::Context;
use crate::Done;
use crate::output::{alarm, count, dim, strong, warn};

/// Show which tasks get in each other's way, before somebody has to merge them
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
        context.output.show(&found, || render(&found))?;
        for unseen in &found.unseen {
            let why = escaped(&unseen.why).into_owned();
            context.output.note(&dim(&format!("{} could not be looked at: {why}", unseen.task)));
        }
        if found.unchecked > 0 {
            let pairs = count(found.unchecked, "pair");
            context
                .output
                .note(&dim(&format!("{pairs} more were not merged; name a task to look at its own")));
        }
        if found.more {
            context.output.note(&dim("there are more tasks than were compared; the newest were"));
        }
        Ok(())
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
    let named = conflict.files.len().min(SHOWN) as u64;
    if conflict.file_count > named {
        lines.push(dim(&format!("    and {} more", conflict.file_count - named)));
    }
    let scopes = conflict.scopes.iter().take(SHOWN);
    lines.extend(scopes.map(|(a, b)| format!("    {} {} {}", escaped(a), dim("and"), escaped(b))));
    lines.push(format!("  {} {}", dim("→"), escaped(&conflict.advice)));
    lines.join("\n")
}

fn side(side: &Side) -> String {
    let branch = side.branch.as_deref().map(|branch| format!("  {}", escaped(branch))).unwrap_or_default();
    format!("{}  {}{}  {}", strong(side.task.as_str()), side.status, dim(&branch), escaped(&side.title))
}
