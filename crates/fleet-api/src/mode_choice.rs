//! `--interactive` and `--headless`: two flags of a command, one field of its request.

use clap::{Arg, ArgAction, ArgMatches, Command};
use fleet_core::task::TaskMode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether the agent runs in a terminal; nothing, if nobody said so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ModeChoice(pub Option<TaskMode>);

const INTERACTIVE: &str = TaskMode::Interactive.as_str();
const HEADLESS: &str = TaskMode::Headless.as_str();

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

impl clap::Args for ModeChoice {
    fn augment_args(command: Command) -> Command {
        let interactive = flag(INTERACTIVE, "Run the agent in a terminal that you can attach to");
        let headless = flag(HEADLESS, "Run the agent without a terminal");
        command.arg(interactive.conflicts_with(HEADLESS)).arg(headless)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for ModeChoice {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(TaskMode::ALL.iter().copied().find(|mode| matches.get_flag(mode.as_str()))))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        Self::from_arg_matches(matches).map(|choice| *self = choice)
    }
}
