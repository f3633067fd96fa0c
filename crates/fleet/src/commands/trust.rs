use clap::Args;
use fleet_api::verbs::trust::{self, Answer};
use fleet_api::verbs::trust_list::{self, ConsentView};
use fleet_api::verbs::trust_revoke;
use fleet_api::verbs::trust_show::{self, WishedFile, WishesView};
use fleet_api::views::{SettingValue, SettingView};
use fleet_core::text::escaped;

use super::Context;
use super::consent::require_consent;
use crate::Done;
use crate::output::{ago, columns, count, dim, strong, table, value};

/// Approve what this repository requests: commands, settings
///
/// A repository can bring commands (`workspaces.setup` in `.fleet/config.toml`), settings that cost you more (an
/// agent, higher limits, copies of your files), templates of prompts, and files that agents act on by themselves, such
/// as the hooks in `.claude/settings.json`. None of them is used until you approve it. If they change, you are asked
/// again. The checks of a workflow in the repository are such commands, too: `--workflow` asks about those of one.
#[derive(Debug, Args)]
#[command(display_order = 320)]
pub(crate) struct Trust {
    /// Show what you approved, and what this repository requests
    #[arg(long, conflicts_with_all = ["revoke", "yes"])]
    list: bool,
    /// Revoke what you approved for this repository
    #[arg(long, conflicts_with = "yes")]
    revoke: bool,
    /// Approve the checks and agent arguments of this workflow: its name, or its file
    #[arg(long, value_name = "WORKFLOW", conflicts_with_all = ["list", "revoke"])]
    workflow: Option<String>,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

impl Trust {
    pub(crate) async fn run(self, context: &Context) -> Done {
        if self.list {
            let listing = context.call(trust_list::Request::default()).await?;
            return context.output.show(&listing, || listed(&listing, context));
        }
        if self.revoke {
            let answer = context.call(trust_revoke::Request::default()).await?;
            return context.output.show(&answer, || {
                let said = if answer.revoked { "no longer trusted" } else { "nothing was trusted" };
                said.to_owned()
            });
        }
        self.agree(context).await
    }

    async fn agree(self, context: &Context) -> Done {
        let workflow = self.workflow;
        let status = context.call(trust_show::Request { workflow: workflow.clone() }).await?;
        if status.trusted {
            let answer = Answer { status, changed: false };
            let is_free = workflow.is_some() && answer.status.asked.is_empty();
            return context.output.show(&answer, || {
                if is_free {
                    "this workflow needs no approval".to_owned()
                } else {
                    already(&answer.status.asked)
                }
            });
        }
        context.output.note(&described(&status));
        let insisted = require_consent(context, self.yes, "Approve?", "nothing was trusted");
        if !insisted.map_err(|problem| problem.hint("`--list` shows what it requests"))? {
            let answer = Answer { status, changed: false };
            return context.output.show(&answer, || "nothing was trusted".to_owned());
        }
        let answer = context.call(trust::Request { workflow, asked: status.asked }).await?;
        context.output.show(&answer, || agreed(&answer.status))
    }
}

/// What was agreed to, and that something was left out.
fn agreed(status: &trust_show::Answer) -> String {
    let mut taken = status.asked.clone();
    taken.commands.retain(|setting| !status.untrusted.contains(&setting.key));
    taken.files.retain(|file| !status.untrusted.contains(&file.path));
    let said = if taken.is_empty() {
        "nothing was trusted".to_owned()
    } else {
        format!("trusted {}", counted(&taken))
    };
    if status.trusted { said } else { format!("{said}; links and files over 4 MB cannot be approved") }
}

fn already(asked: &WishesView) -> String {
    if asked.is_empty() {
        return "this repository requests nothing that needs approval".to_owned();
    }
    format!("trusted already: {}", counted(asked))
}

fn counted(asked: &WishesView) -> String {
    let amounts = [(asked.commands.len(), "setting"), (asked.files.len(), "file")];
    let counted = amounts.into_iter().filter(|(number, _)| *number > 0);
    counted.map(|(number, what)| count(number, what)).collect::<Vec<_>>().join(" and ")
}

/// All that it wants, as it would be done: nothing is cut. Files are shown by their names, to be read before. Where some
/// of it is trusted, the rest is marked.
fn described(status: &trust_show::Answer) -> String {
    let trust_show::Answer { asked, untrusted, .. } = status;
    let is_partly_trusted = untrusted.len() < asked.commands.len() + asked.files.len();
    let is_marked = |name: &String| is_partly_trusted && untrusted.contains(name);
    let mark = |name| if is_marked(name) { strong("  not trusted") } else { String::new() };
    let mut lines = vec![format!("{} requests:", strong(&escaped(&asked.project)))];
    for SettingView { key, value: set, origin } in &asked.commands {
        let place = dim(&escaped(&origin.to_string()));
        match set {
            SettingValue::List(items) => {
                lines.push(format!("  {key}  {place}{}", mark(key)));
                lines.extend(items.iter().map(|item| format!("    {}", escaped(item))));
            }
            one => lines.push(format!("  {key} = {}  {place}{}", escaped(&value(one)), mark(key))),
        }
    }
    for WishedFile { path, sha256 } in &asked.files {
        let content = sha256.as_ref().map_or("a link, or too large", |hash| &hash[..12]);
        lines.push(format!("  {}  {}{}", escaped(path), dim(content), mark(path)));
    }
    lines.join("\n")
}

fn listed(listing: &trust_list::Answer, context: &Context) -> String {
    let now = context.engine.now();
    let what = |entry: &ConsentView| match entry.setting.as_ref().or(entry.file.as_ref()) {
        Some(name) => escaped(name).into_owned(),
        None => "settings".to_owned(),
    };
    let short_hash =
        |entry: &ConsentView| entry.content.iter().flat_map(|hash| hash.chars()).take(12).collect();
    let mut text = if listing.trusted.is_empty() {
        "nothing is trusted\n".to_owned()
    } else {
        let column = columns(&listing.trusted);
        table(vec![
            column("PROJECT", &|entry| entry.project.clone()).giving_way(),
            column("WHAT", &what),
            column("CONTENT", &short_hash).painted(dim),
            column("AGE", &|entry| ago(entry.at.0, now)),
        ])
    };
    if let Some(here) = listing.here.as_ref().filter(|here| !here.asked.is_empty()) {
        let verdict = if here.trusted { "trusted" } else { "not trusted" };
        text = format!("{}\n\n{}\n{verdict}", text.trim_end(), described(here));
    }
    text
}
