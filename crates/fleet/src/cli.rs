//! The command line as a whole: global options; `commands` has the list of commands.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, ValueEnum};

use crate::commands::Command;

/// Command a fleet of AI coding agents
///
/// codefleet keeps a durable queue of tasks for your repositories and runs an agent on each, in its own workspace and
/// on its own branch. Agents survive crashes, and their work is never lost. Everything is kept in one SQLite file, or
/// in PostgreSQL for many machines.
#[derive(Debug, Parser)]
#[command(name = "fleet", version, after_help = START, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// For the help of the whole program: the commands by what people want to do.
    pub(crate) fn grouped() -> clap::Command {
        let all = Cli::command();
        let about = |name: &&str| {
            let command = all.find_subcommand(name)?;
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            Some(format!("  {name:<12} {about}"))
        };
        let group = |(title, names): &(&str, &[&str])| {
            let lines: Vec<String> = names.iter().filter_map(about).collect();
            format!("{title}:\n{}", lines.join("\n"))
        };
        let groups: Vec<String> = GROUPS.iter().map(group).collect();
        let template = format!(
            "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}\n\n{{all-args}}{{after-help}}",
            groups.join("\n\n")
        );
        let names: Vec<String> = all.get_subcommands().map(|command| command.get_name().to_owned()).collect();
        let hidden =
            |all: clap::Command, name: &String| all.mut_subcommand(name, |command| command.hide(true));
        names.iter().fold(all.help_template(template).override_usage("fleet [OPTIONS] <COMMAND>"), hidden)
    }

    /// The command line with the one command that is typed first, or with none. All that it accepts, the whole accepts too.
    pub(crate) fn with_first(arguments: &[OsString]) -> clap::Command {
        let words = arguments.iter().skip(1).filter_map(|argument| argument.to_str());
        let first = words.filter(|word| !word.starts_with('-')).find_map(Command::definition);
        let alone = clap::Command::new("fleet").version(env!("CARGO_PKG_VERSION")).subcommand_required(true);
        Global::augment_args(alone).subcommands(first)
    }

    /// Everything that people are meant to type: completions would otherwise offer hidden commands too.
    pub(crate) fn shown() -> clap::Command {
        let all = Cli::command();
        let shown = all.get_subcommands().filter(|command| !command.is_hide_set());
        clap::Command::new("fleet")
            .version(env!("CARGO_PKG_VERSION"))
            .args(all.get_arguments())
            .subcommands(shown)
    }
}

/// The commands that people type, by what they want to do.
const GROUPS: [(&str, &[&str]); 8] = [
    ("Start", &["demo", "create", "fanout", "multi"]),
    (
        "Look",
        &[
            "list",
            "watch",
            "status",
            "inbox",
            "show",
            "why",
            "attach",
            "logs",
            "replay",
            "diff",
            "open",
            "review",
            "compare",
            "conflicts",
            "events",
        ],
    ),
    ("Steer", &["prompt", "answer", "allow", "deny", "headless", "keep", "kill", "resume", "undo", "clean"]),
    ("Queue", &["task", "run", "start", "stop", "restart", "pause", "unpause", "unfreeze"]),
    ("Workflows", &["workflow"]),
    ("Set up", &["init", "agents", "config", "setup", "trust", "mcp", "doctor", "disk", "gc", "update"]),
    ("Help", &["explain", "verbs", "completions", "man", "help"]),
    ("For agents", &["done", "fail", "ask", "note", "progress"]),
];

const START: &str = "Start here:
  fleet demo                       see it work, without an account
  fleet create fix-login -p \"Fix the flaky login test\" --agent demo
  fleet task add \"Port the parser\" --after ID
  fleet list";

/// Options that every command takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Output JSON (stable schema)
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Work on the repository of this directory instead of the current one
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Set a configuration value for this command only
    #[arg(short = 'c', long = "config", global = true, value_name = "KEY=VALUE")]
    pub(crate) configuration: Vec<String>,
    /// Do not send long output through a pager
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
    /// Show each step and how long it takes, on standard error
    #[arg(long, global = true)]
    pub(crate) verbose: bool,
    /// Colour the output
    #[arg(long, global = true, value_name = "WHEN")]
    pub(crate) color: Option<ColorWhen>,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        grouped.retain(|name| *name != "help");
        grouped.sort_unstable();
        let all = Cli::command();
        let mut shown: Vec<&str> = all
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(clap::Command::get_name)
            .collect();
        shown.sort_unstable();
        assert_eq!(grouped, shown);
    }

    #[test]
    fn a_command_alone_is_defined_as_among_all() {
        let all = Cli::command();
        for among_all in all.get_subcommands() {
            let mut alone = Command::definition(among_all.get_name()).expect("every command has one");
            assert_eq!(
                alone.render_long_help().to_string(),
                among_all.clone().render_long_help().to_string()
            );
        }
        assert!(Command::definition("nonsense").is_none());
    }

    #[test]
    fn the_groups_fit_a_narrow_terminal() {
        let page = Cli::grouped().render_help().to_string();
        let listed = page.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        for line in listed.filter(|line| !line.contains("--")) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
