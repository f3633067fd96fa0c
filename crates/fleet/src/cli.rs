//! The command line as a whole: global options; `commands` has the list of commands.

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
    /// Colour the output
    #[arg(long, global = true, value_name = "WHEN")]
    pub(crate) color: Option<When>,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}
