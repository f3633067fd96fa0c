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
mod mistakes;
mod output;

use std::ffi::OsString;
use std::io::{IsTerminal, stdin, stdout};
use std::path::Path;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use fleet_core::problem::{Code, Outcome, Problem};

use cli::Cli;
use fleet_engine::environment::Environment;
use output::{Output, pager};

/// Runs the command that this process was started with.
pub fn main() -> ExitCode {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    if is_bare_codefleet(&arguments) && !stdin().is_terminal() {
        arguments.push("mcp".into());
    }
    if holds_secrets(&arguments) {
        // Before anything else: what another process opens in /proc before this, it keeps.
        fleet_engine::forbid_dumps();
        fleet_engine::pass_no_descriptors();
    }
    match parse(&arguments) {
        Ok((cli, command)) => run(cli, command),
        Err(error) => refuse(&error, &arguments),
    }
}

/// MCP clients that are set up for the Python program of this name start it without arguments, as in `uvx codefleet`.
fn is_bare_codefleet(arguments: &[OsString]) -> bool {
    let [program] = arguments else { return false };
    Path::new(program).file_name().is_some_and(|name| name == "codefleet")
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

/// The command line, and the command as it was typed.
fn parse(arguments: &[OsString]) -> Result<(Cli, String), clap::Error> {
    // To define all commands takes longer than to run most. Only the whole knows what else is meant by a mistake.
    let matches = match Cli::with_first(arguments).try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) if error.kind() == ErrorKind::DisplayVersion => return Err(error),
        Err(_) => {
            Cli::command().try_get_matches_from(arguments).map_err(|error| grouped(error, arguments))?
        }
    };
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut Cli::command()))?;
    Ok((cli, typed(&matches)))
}

/// The help of the whole program has its commands in groups.
fn grouped(error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let is_help =
        matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand);
    let is_word = |argument: &&OsString| !matches!(argument.to_str(), Some("help" | "-h" | "--help"));
    if !is_help || arguments.iter().skip(1).any(|argument| is_word(&argument)) {
        return error;
    }
    Cli::grouped().try_get_matches_from(arguments).err().unwrap_or(error)
}

/// Such as `fleet task add`.
fn typed(mut matches: &ArgMatches) -> String {
    let mut command = "fleet".to_owned();
    while let Some((name, below)) = matches.subcommand() {
        command = format!("{command} {name}");
        matches = below;
    }
    command
}

fn run(cli: Cli, command: String) -> ExitCode {
    let output = Output::new(&cli.global);
    exit::code(output, commands::run(cli, output, command))
}

/// Help and version are answers; everything else is a mistake on the command line.
fn refuse(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    let json = arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--json");
    if let Some(problem) = mistakes::explain(error, arguments) {
        return exit::code(if json { Output::json() } else { Output::plain() }, Err(problem));
    }
    if error.kind() == ErrorKind::DisplayHelp && stdout().is_terminal() {
        return help(error, arguments);
    }
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

/// Long help goes through the pager; the configuration is not read for it.
fn help(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    if !arguments.iter().any(|argument| argument == "--no-pager") {
        let environment = Environment::from_process();
        let setting = environment.get_os("FLEET_PAGER").and_then(|text| text.to_str());
        pager::begin(setting.unwrap_or("auto"), &environment);
    }
    let page = error.render();
    let text = if output::is_colored() { page.ansi().to_string() } else { page.to_string() };
    exit::code(Output::plain(), output::print(&text))
}

type Done = Outcome<()>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_bare_codefleet_is_the_server() {
        let is_bare =
            |line: &str| is_bare_codefleet(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert!(is_bare("codefleet") && is_bare("/usr/bin/codefleet"));
        assert!(!is_bare("fleet") && !is_bare("codefleet mcp") && !is_bare("codefleet --version"));
        assert!(!is_bare_codefleet(&[]));
    }

    #[test]
    fn the_command_is_known_as_it_was_typed() {
        let typed = |line: &str| parse(&line.split(' ').map(OsString::from).collect::<Vec<_>>()).unwrap().1;
        assert_eq!(typed("fleet note hi"), "fleet note");
        assert_eq!(typed("fleet --json task dep add a b"), "fleet task dep add");
    }
}
