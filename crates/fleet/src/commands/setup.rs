use clap::Args;
use fleet_api::verbs::setup::{Answer, Client, Done, NAME, Request, Scope, Wish};
use fleet_api::verbs::setup_list::{self, Status};

use super::Context;
use crate::output::{Column, dim, table};

/// Register codefleet's tool server with claude, codex, gemini or opencode
///
/// Writes into the settings of that program that it starts `fleet mcp` as the tool server `codefleet`, shows what changes,
/// and leaves everything else in the file as it is. Without a name, lists the programs and how they stand.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 310)]
pub(crate) struct Setup {
    /// In whose settings
    #[arg(value_enum)]
    client: Option<Client>,
    /// Take the registration back, and nothing else
    #[arg(long, requires = "client")]
    remove: bool,
    /// Show what would change, and change nothing
    #[arg(long, requires = "client")]
    dry_run: bool,
    /// For yourself, or for everybody who works on this repository [default: user]
    #[arg(long, value_enum)]
    scope: Option<Scope>,
    /// Also if `codefleet` is registered there for another program
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
            scope: self.scope.unwrap_or(Scope::User),
            wish: if self.remove { Wish::Remove } else { Wish::Add },
            force: self.force,
            dry_run: self.dry_run,
        };
        let answer = context.call(request).await?;
        context.output.show(&answer, || told(&answer))
    }
}

fn told(answer: &Answer) -> String {
    let (client, file, command) = (answer.client.name(), &answer.file, answer.command.join(" "));
    let would = |now: &str, then: &str| if answer.dry_run { then.to_owned() } else { now.to_owned() };
    let first = match answer.done {
        Done::Added => {
            format!("{file}: `{NAME}` {} as `{command}`", would("is registered", "would be registered"))
        }
        Done::Updated => format!("{file}: `{NAME}` {} `{command}`", would("now starts", "would start")),
        Done::Unchanged => format!("{file}: `{NAME}` is registered already, as `{command}`"),
        Done::Removed => {
            format!("{file}: `{NAME}` {}", would("is no longer registered", "would be taken out"))
        }
        Done::Absent => format!("{file}: `{NAME}` is not registered"),
    };
    let mut lines = vec![first];
    lines.extend(answer.changes.iter().map(|line| format!("  {line}")));
    if matches!(answer.done, Done::Added | Done::Updated) && !answer.dry_run {
        lines.push(dim(&format!(
            "`{client} mcp list` shows it; if {client} is running, it has to be started again"
        )));
    }
    lines.join("\n")
}

fn listed(listing: &setup_list::Answer) -> String {
    let column = |cell: fn(&Status) -> String| listing.clients.iter().map(cell).collect::<Vec<_>>();
    let scope = |status: &Status| if status.scope == Scope::User { "user" } else { "project" }.to_owned();
    let what = |status: &Status| match &status.problem {
        Some(problem) => problem.clone(),
        None if status.command.is_empty() => status.file.clone(),
        None => format!("{} in {}", status.command.join(" "), status.file),
    };
    let clients = table(vec![
        Column::new("CLIENT", column(|status| status.client.name().to_owned())),
        Column::new("SCOPE", column(scope)),
        Column::new("INSTALLED", column(|status| if status.installed { "yes" } else { "no" }.to_owned())),
        Column::new("STATUS", column(|status| status.status.clone())),
        Column::new("WHAT", column(what)).giving_way(),
    ]);
    format!(
        "{clients}\n{}",
        dim("`fleet setup CLIENT` registers, `fleet setup CLIENT --remove` takes it back")
    )
}
