use clap::Args;
use fleet_api::verbs::setup::{Answer, NAME, Request, SetupAction, SetupClient, SetupOutcome, SetupScope};
use fleet_api::verbs::setup_list::{self, ClientStatus};

use super::Context;
use crate::output::{columns, dim, table};

/// Register codefleet with claude, codex, gemini or opencode
///
/// Writes into the settings of that program that it starts `fleet mcp` as the tool server `codefleet`, shows what changes,
/// and leaves everything else in the file as it is. Without a name, lists the programs and whether they have it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 310)]
pub(crate) struct Setup {
    /// Whose settings
    #[arg(value_enum)]
    client: Option<SetupClient>,
    /// Remove the registration, and nothing else
    #[arg(long, requires = "client")]
    remove: bool,
    /// Show what would change, and change nothing
    #[arg(long, requires = "client")]
    dry_run: bool,
    /// Your own settings, or those of this repository [default: user]
    #[arg(long, value_enum)]
    scope: Option<SetupScope>,
    /// Overwrite another program's `codefleet` entry
    #[arg(long, requires = "client")]
    force: bool,
}

const EXAMPLES: &str = "Examples:
  fleet setup                      who knows codefleet?
  fleet setup claude --dry-run
  fleet setup codex
  fleet setup claude --scope project
  fleet setup claude --remove";

impl Setup {
    pub(crate) async fn run(self, context: &Context) -> crate::Done {
        let Some(client) = self.client else {
            let listing = context.call(setup_list::Request { scope: self.scope }).await?;
            return context.output.show(&listing, || listed(&listing));
        };
        let request = Request {
            client,
            scope: self.scope.unwrap_or(SetupScope::User),
            wish: if self.remove { SetupAction::Remove } else { SetupAction::Add },
            force: self.force,
            dry_run: self.dry_run,
        };
        let answer = context.call(request).await?;
        context.output.show(&answer, || render(&answer))
    }
}

fn render(answer: &Answer) -> String {
    let (client, file, command) = (answer.client.name(), &answer.file, answer.command.join(" "));
    let would = |now: &str, then: &str| if answer.dry_run { then.to_owned() } else { now.to_owned() };
    let first = match answer.done {
        SetupOutcome::Added => {
            format!("{file}: `{NAME}` {} as `{command}`", would("is registered", "would be registered"))
        }
        SetupOutcome::Updated => {
            format!("{file}: `{NAME}` {} `{command}`", would("now starts", "would start"))
        }
        SetupOutcome::Unchanged => format!("{file}: `{NAME}` is registered already, as `{command}`"),
        SetupOutcome::Removed => {
            format!("{file}: `{NAME}` {}", would("is unregistered", "would be unregistered"))
        }
        SetupOutcome::Absent => format!("{file}: `{NAME}` is not registered"),
    };
    let mut lines = vec![first];
    lines.extend(answer.changes.iter().map(|line| format!("  {line}")));
    if matches!(answer.done, SetupOutcome::Added | SetupOutcome::Updated) && !answer.dry_run {
        lines.push(dim(&format!("`{client} mcp list` shows it; restart running {client} sessions")));
    }
    lines.join("\n")
}

fn listed(listing: &setup_list::Answer) -> String {
    let column = columns(&listing.clients);
    let scope =
        |status: &ClientStatus| if status.scope == SetupScope::User { "user" } else { "project" }.to_owned();
    let what = |status: &ClientStatus| match &status.problem {
        Some(problem) => problem.clone(),
        None if status.command.is_empty() => status.file.clone(),
        None => format!("{} in {}", status.command.join(" "), status.file),
    };
    let clients = table(vec![
        column("CLIENT", &|status| status.client.name().to_owned()),
        column("SCOPE", &scope),
        column("INSTALLED", &|status| if status.installed { "yes" } else { "no" }.to_owned()),
        column("STATUS", &|status| status.status.clone()),
        column("WHAT", &what).giving_way(),
    ]);
    format!(
        "{clients}\n{}",
        dim("`fleet setup CLIENT` registers it; `fleet setup CLIENT --remove` unregisters it")
    )
}
