//! The command line of codefleet.
//!
//! Owns how verbs are asked for and how their answers are shown: one file per command, whose doc comment is its
//! help. Must never decide anything that a verb should decide.

// First of all: `commands` uses the macros that it makes.
include!(concat!(env!("OUT_DIR"), "/commands.rs"));

mod cli;
mod commands;
mod exit;
mod follow;
mod output;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use fleet_core::problem::{Code, Outcome, Problem};

use cli::Cli;
use output::Output;

/// Runs the command that this process was started with.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if holds_secrets(&arguments) {
        // Before anything else: what another process opens in /proc before this, it keeps.
        fleet_engine::forbid_dumps();
        fleet_engine::pass_no_descriptors();
    }
    match Cli::try_parse_from(&arguments) {
        Ok(cli) => run(cli),
        Err(error) => refuse(&error, &arguments),
    }
}

/// Whether this process will work for others with what only the user may know. Said by hand, because reading the command line
/// takes its time; one that is taken for such a process by mistake only leaves no core dump.
fn holds_secrets(arguments: &[OsString]) -> bool {
    let is_one = |argument: &OsString| {
        let text = argument.to_str().unwrap_or_default();
        matches!(text, "keeper" | "shim" | "run" | "repair") || text.starts_with("--http")
    };
    arguments.iter().skip(1).take_while(|argument| *argument != "--").any(is_one)
}

fn run(cli: Cli) -> ExitCode {
    let output = Output::new(&cli.global);
    exit::code(output, commands::run(cli, output))
}

/// Help and version are answers; everything else is a mistake on the command line.
fn refuse(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    let json = arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--json");
    if !error.use_stderr() || !json {
        // Nothing better can be done when not even the message can be written.
        let _ = error.print();
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    }
    let text = error.render().to_string();
    // Everything up to the usage or the pointer to the help: clap names the culprits below its first line.
    let is_advice = |line: &&str| line.starts_with("Usage:") || line.starts_with("For more information");
    let lines = text.lines().take_while(|line| !is_advice(line)).map(str::trim);
    let message = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let message = message.trim_start_matches("error: ").to_owned();
    let problem = Problem::new(Code::Usage, message).hint("`fleet help` lists the commands");
    exit::code(Output::json(), Err(problem))
}

type Done = Outcome<()>;
