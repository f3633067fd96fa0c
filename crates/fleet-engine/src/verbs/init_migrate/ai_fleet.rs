//! What `ai-fleet` keeps: a file in the project, or the older one with the same settings in one level. Pure but for reading.

use std::path::Path;

use toml_edit::{DocumentMut, Item};

use crate::text_file::{self, Unusable};
use crate::verbs::init::Preset;
use crate::verbs::prelude::*;

const LIMIT: u64 = 1 << 20;

pub(super) struct Found {
    pub(super) preset: Preset,
    /// What has no counterpart here.
    pub(super) remarks: Vec<String>,
}

/// What the file says; nothing if there is none.
pub(super) fn read(path: &Path) -> Outcome<Option<Found>> {
    let wrong = |why: String| {
        Problem::new(Code::ConfigInvalid, format!("{}: {why}", path.display()))
            .hint("nothing was taken over; fix the file, or rename it if it is not needed")
    };
    match text_file::read(path, LIMIT) {
        Ok(text) => parse(&text).map(Some).map_err(wrong),
        Err(Unusable::Missing) => Ok(None),
        Err(why) => Err(wrong(why.to_string())),
    }
}

fn parse(text: &str) -> Result<Found, String> {
    let file: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.message().to_owned())?;
    // `[setup] commands` in a project's file, `setup_commands` in the older one.
    let find = |section: &str, key: &str, flat: &str| -> Option<Item> {
        let nested = file.get(section).and_then(Item::as_table_like).and_then(|table| table.get(key));
        nested.or_else(|| file.get(flat)).cloned()
    };
    let text_of = |item: Option<Item>| item.and_then(|item| item.as_str().map(ToOwned::to_owned));
    let list_of = |item: Option<Item>| -> Vec<String> {
        let items = item.and_then(|item| item.as_array().cloned()).unwrap_or_default();
        items.iter().filter_map(|value| value.as_str().map(ToOwned::to_owned)).collect()
    };
    let is_quick = find("setup", "quick", "quick_setup").and_then(|item| item.as_bool()).unwrap_or_default();
    let commands = list_of(find("setup", "commands", "setup_commands"));
    let mut remarks = Vec::new();
    if is_quick && !commands.is_empty() {
        remarks.push(format!("quick was set, so its commands were not taken over: {}", commands.join("; ")));
    }
    if let Some(flags) =
        text_of(find("agent", "claude_flags", "claude_flags")).filter(|flags| !flags.is_empty())
    {
        remarks.push(flags_remark(&flags));
    }
    for (section, key, flat, why) in WITHOUT_COUNTERPART {
        if find(section, key, flat).is_some() {
            remarks.push(format!("{flat}: {why}"));
        }
    }
    let preset = Preset {
        agent: text_of(find("agent", "default", "default_agent")),
        copy: list_of(find("setup", "credential_files", "credential_files")),
        setup: if is_quick { Vec::new() } else { commands },
        suggested_checks: Vec::new(),
    };
    Ok(Found { preset, remarks })
}

const WITHOUT_COUNTERPART: [(&str, &str, &str, &str); 3] = [
    ("project", "name", "name", "a project has the name of its folder"),
    ("project", "worktree_root", "worktree_root", "workspaces are in `$FLEET_HOME/worktrees`"),
    ("tmux", "prefix", "tmux_prefix", "agents need no tmux"),
];

/// What an agent may do is the user's own setting, never the project's.
fn flags_remark(flags: &str) -> String {
    if flags.trim() == "--dangerously-skip-permissions" {
        return "claude_flags: agents work in a sandbox; `fleet config set agents.claude.trust full` lifts it, for you \
                only"
            .to_owned();
    }
    format!("claude_flags: `fleet config set agents.claude.args …` passes arguments, for you only: {flags}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROJECT: &str = "[project]\nname = 'shop'\nworktree_root = '~/wt'\n[agent]\ndefault = 'codex'\n\
        claude_flags = '--dangerously-skip-permissions'\n[setup]\ncredential_files = ['.env', '../x']\n\
        commands = ['npm ci']\nquick = false\n[tmux]\nprefix = 'ai_'\n";
    const FLAT: &str = "repo_root = '/r'\nworktree_root = '/w'\ntmux_prefix = 'x'\ndefault_agent = 'codex'\n\
        claude_flags = '--dangerously-skip-permissions'\ncredential_files = ['.env', '../x']\n\
        setup_commands = ['npm ci']\nquick_setup = false\n";

    #[test]
    fn both_files_say_the_same() {
        let (project, flat) = (parse(PROJECT).unwrap(), parse(FLAT).unwrap());
        assert_eq!(project.preset, flat.preset);
        assert_eq!(project.preset.agent.as_deref(), Some("codex"));
        assert_eq!(project.preset.copy, [".env", "../x"]);
        assert_eq!(project.preset.setup, ["npm ci"]);
        assert_eq!((project.remarks.len(), flat.remarks.len()), (4, 3), "{:?}", project.remarks);
    }

    #[test]
    fn commands_that_were_switched_off_stay_off() {
        let found = parse("[setup]\ncommands = ['make']\nquick = true").unwrap();
        assert!(found.preset.setup.is_empty() && found.remarks[0].contains("make"), "{:?}", found.remarks);
    }

    #[test]
    fn what_is_not_toml_is_a_problem_and_what_is_odd_is_not() {
        assert!(parse("[setup").is_err());
        let odd = parse("agent = 'x'\nsetup = 3\n[project]\nname = 3").unwrap();
        assert_eq!(odd.preset, Preset::default());
    }
}
