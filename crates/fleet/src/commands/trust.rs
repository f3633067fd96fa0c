//! `fleet trust`

use clap::Args;
use fleet_core::problem::{Code, Problem};
use fleet_core::text::escaped;
use fleet_engine::trust::ProjectCommands;
use fleet_engine::verbs::trust::{self, Listing, Response};

use super::Context;
use crate::Done;
use crate::output::{Column, ago, confirm, count, dim, strong, table};

/// Let the commands of this repository run
///
/// A repository can bring commands of its own, such as `workspaces.setup` in `.fleet/config.toml`. They do not run
/// before you agreed to exactly these commands. If they change, you are asked again. The checks of a workflow in the
/// repository are such commands, too: `--workflow` asks about those of one.
#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// Show what you agreed to, and what this repository wants to run
    #[arg(long, conflicts_with_all = ["revoke", "yes"])]
    list: bool,
    /// Take back what you agreed to for this repository
    #[arg(long, conflicts_with = "yes")]
    revoke: bool,
    /// Let the checks of this workflow run, and its agents be started with its arguments: its name, or its file
    #[arg(long, value_name = "WORKFLOW", conflicts_with_all = ["list", "revoke"])]
    workflow: Option<String>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl Trust {
    pub(crate) fn run(self, context: &Context) -> Done {
        if self.list {
            let listing = trust::list(&context.engine)?;
            return context.output.show(&listing, || listed(&listing, context));
        }
        if self.revoke {
            let answer = trust::revoke(&context.engine)?;
            return context.output.show(&answer, || {
                let said = if answer.revoked { "no longer trusted" } else { "nothing was trusted" };
                said.to_owned()
            });
        }
        self.agree(context)
    }

    fn agree(self, context: &Context) -> Done {
        let status = match &self.workflow {
            Some(workflow) => trust::status_of_workflow(&context.engine, workflow)?,
            None => trust::status(&context.engine)?,
        };
        if status.trusted {
            let answer = Response { status, changed: false };
            let is_free = self.workflow.is_some() && answer.status.asked.commands.is_empty();
            return context.output.show(&answer, || {
                if is_free {
                    "this workflow asks for no consent".to_owned()
                } else {
                    already(&answer.status.asked)
                }
            });
        }
        context.output.note(&described(&status.asked));
        if !self.yes {
            // A question about what was not shown would be none.
            let answer = if context.output.is_json() { None } else { confirm("Let them run?") };
            match answer {
                Some(true) => {}
                Some(false) => {
                    let answer = Response { status, changed: false };
                    return context.output.show(&answer, || "nothing was trusted".to_owned());
                }
                None => {
                    let problem = Problem::new(Code::Usage, "nobody is there to ask, so nothing was trusted");
                    return Err(
                        problem.hint("`--list` shows the commands, `--yes` trusts them without asking")
                    );
                }
            }
        }
        let answer = trust::run(&context.engine, status.asked)?;
        context
            .output
            .show(&answer, || format!("trusted {}", count(answer.status.asked.lines().count(), "command")))
    }
}

fn already(asked: &ProjectCommands) -> String {
    match asked.lines().count() {
        0 => "this repository has no commands of its own".to_owned(),
        number => format!("trusted already: {}", count(number, "command")),
    }
}

/// All that would run, as it would run: nothing is cut.
fn described(asked: &ProjectCommands) -> String {
    let mut lines = vec![format!("{} wants to run:", strong(&escaped(&asked.project)))];
    for setting in &asked.commands {
        lines.push(format!("  {}  {}", setting.key, dim(&escaped(&setting.origin.to_string()))));
        lines.extend(setting.value.texts().iter().map(|command| format!("    {}", escaped(command))));
    }
    lines.join("\n")
}

fn listed(listing: &Listing, context: &Context) -> String {
    let now = context.engine.now();
    let short = |hash: &str| hash.chars().take("sha256:".len() + 12).collect::<String>();
    let mut text = if listing.trusted.is_empty() {
        "nothing is trusted\n".to_owned()
    } else {
        table(vec![
            Column::new("PROJECT", listing.trusted.iter().map(|entry| entry.project.clone())).giving_way(),
            Column::new("COMMANDS", listing.trusted.iter().map(|entry| short(&entry.hash))).painted(dim),
            Column::new("AGE", listing.trusted.iter().map(|entry| ago(entry.at.0, now))),
        ])
    };
    if let Some(here) = listing.here.as_ref().filter(|here| !here.asked.commands.is_empty()) {
        let verdict = if here.trusted { "trusted" } else { "not trusted" };
        text = format!("{}\n\n{}\n{verdict}", text.trim_end(), described(&here.asked));
    }
    text
}
