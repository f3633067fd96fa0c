use clap::Args;
use fleet_api::verbs::init::{Answer, Request};
use fleet_api::verbs::init_migrate::{self, Step};
use fleet_core::text::{escaped, escaped_lines};

use super::Context;
use super::consent::require_consent;
use crate::Done;
use crate::output::{arrows, count, dim, strong};

/// Set up this repository: write `.fleet/config.toml` for its team
///
/// Everything works without it. The file says which files are copied into each workspace, which commands prepare it,
/// and which must succeed before work counts as done; it is meant to be committed. What it starts or copies applies
/// only after each user has approved it (`fleet trust`).
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 295)]
pub(crate) struct Init {
    #[command(flatten)]
    request: Request,
    /// Take over what `ai-fleet` (`.aifleet`, `~/.ai_fleet`) or another `fleet` (`runtime.toml`) has, with a backup
    #[arg(long, visible_alias = "migrate-legacy", conflicts_with_all = ["kind", "force"])]
    migrate: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

const EXAMPLES: &str = "Examples:
  fleet init
  fleet init --type node --yes
  fleet init --migrate";

impl Init {
    pub(crate) async fn run(self, context: &Context) -> Done {
        if self.migrate { migrate(context, self.yes).await } else { self.write(context).await }
    }

    async fn write(self, context: &Context) -> Done {
        let Self { request, yes, .. } = self;
        let plan = context.call(Request { dry_run: true, ..request }).await?;
        let path = context.shortest_path(&plan.path);
        if !yes {
            context.output.note(&format!("{}\n", escaped_lines(&plan.text)));
        }
        let question = format!("Write this to {} (type: {})?", escaped(&path), plan.kind.name());
        if !require_consent(context, yes, &question, "nothing was written")? {
            return context.output.show(&plan, || "nothing was written".to_owned());
        }
        let question = format!("Add {} to .gitignore?", plan.gitignore.join(" and "));
        let gitignore =
            !plan.gitignore.is_empty() && require_consent(context, yes, &question, "it was not added")?;
        let done =
            context.call(Request { gitignore, dry_run: false, kind: Some(plan.kind), ..request }).await?;
        context.output.show(&done, || said(&done, &path, gitignore))
    }
}

fn said(done: &Answer, path: &str, gitignore: bool) -> String {
    let mut lines =
        vec![format!("wrote {} {}", strong(&escaped(path)), dim(&format!("(type: {})", done.kind.name())))];
    lines.extend(done.backup.iter().map(|backup| format!("the file before is {}", escaped(backup))));
    if gitignore {
        lines.push(format!("added {} to .gitignore", done.gitignore.join(" and ")));
    }
    let trust =
        done.needs_trust.then(|| "`fleet trust` approves its commands and copies, for you".to_owned());
    let files = if gitignore { ".fleet .gitignore" } else { ".fleet" };
    let edit = format!("`fleet config edit --in-project` changes it; `git add {files}` for your team");
    let create = "`fleet create BRANCH -p \"…\"` launches an agent".to_owned();
    lines.push(arrows(&[Some(edit), trust, Some(create)].into_iter().flatten().collect::<Vec<_>>()));
    lines.join("\n")
}

async fn migrate(context: &Context, yes: bool) -> Done {
    let plan = context.call(init_migrate::Request { dry_run: true }).await?;
    if plan.steps.iter().all(|step| step.to.is_none()) {
        return context.output.show(&plan, || {
            let steps: Vec<String> = plan.steps.iter().map(taken).collect();
            let nothing = "nothing to migrate: no `.aifleet`, no `~/.ai_fleet`, no home of another `fleet`";
            if steps.is_empty() { nothing.to_owned() } else { steps.join("\n") }
        });
    }
    if !yes {
        context.output.note(&plan.steps.iter().map(taken).collect::<Vec<_>>().join("\n"));
    }
    if !require_consent(context, yes, "Take this over?", "nothing was taken over")? {
        return context.output.show(&plan, || "nothing was taken over".to_owned());
    }
    let done = context.call(init_migrate::Request { dry_run: false }).await?;
    context.output.show(&done, || {
        let mut lines: Vec<String> = done.steps.iter().map(taken).collect();
        let held = done.steps.iter().any(|step| step.tasks > 0);
        let release =
            held.then(|| "`fleet task list` shows the tasks; `fleet task release ID` queues one".to_owned());
        let check =
            "`fleet config --show-origin` shows what is in force; `fleet trust` approves it".to_owned();
        lines.push(arrows(&release.into_iter().chain([check]).collect::<Vec<_>>()));
        lines.join("\n")
    })
}

fn taken(step: &Step) -> String {
    let from = escaped(&step.from);
    let mut lines = vec![match &step.to {
        Some(to) => format!("{from} → {}", strong(&escaped(to))),
        None => from.into_owned(),
    }];
    lines.extend(step.settings.iter().map(|setting| format!("  {}", escaped(setting))));
    if step.tasks > 0 {
        lines.push(format!("  {}, held", count(step.tasks, "task")));
    }
    lines.extend(step.remarks.iter().map(|remark| format!("  {}", dim(&escaped(remark)))));
    lines.extend(
        step.backup.iter().map(|backup| format!("  {}", dim(&format!("backup: {}", escaped(backup))))),
    );
    lines.join("\n")
}
