//! What people type that is not a command, or not a value, and what they mean by it. Pure.
//!
//! Must never guess for them where that could end or remove something.

use std::ffi::OsString;

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use fleet_core::problem::{Code, Problem};
use fleet_core::text::escaped;

use crate::cli::Cli;

/// Names of other tools, and of commands one level deeper.
const MEANT: &[(&[&str], &[&str])] = &[
    (
        &["cancel", "abort", "terminate"],
        &[
            "`fleet kill NAME` stops an agent and cancels its task; its work is kept",
            "`fleet workflow cancel ID` cancels a workflow",
        ],
    ),
    (
        &["retry", "rerun", "restart-task"],
        &[
            "`fleet resume NAME` requeues a failed task and follows it; `fleet task retry ID` only requeues it",
            "`fleet workflow retry ID` retries a workflow",
        ],
    ),
    (
        &["rm", "remove", "delete", "del"],
        &[
            "`fleet clean NAME` removes branches and folders of finished runs",
            "`fleet task delete ID` deletes a task; `fleet kill NAME` stops an agent",
        ],
    ),
    (
        &["drop", "discard", "reject"],
        &[
            "`fleet keep NAME` keeps one of a fan-out and drops the others",
            "`fleet clean NAME --all` removes a finished branch; `fleet kill NAME --discard` a running one",
        ],
    ),
    (&["accept", "pick", "choose"], &["`fleet keep NAME` keeps one of a fan-out and drops the others"]),
    (
        &["merge", "land", "apply"],
        &[
            "`fleet diff NAME` shows the work; `git merge BRANCH` merges it",
            "`fleet review` shows what can be merged",
        ],
    ),
    (
        &["add", "new", "enqueue", "submit"],
        &[
            "`fleet create BRANCH -p \"…\"` launches an agent; `fleet task add \"…\"` adds a task to the queue",
        ],
    ),
    (&["queue", "todo", "backlog"], &["`fleet list` shows everything; `fleet task list` the queue"]),
    (&["top", "monitor"], &["`fleet watch` keeps the list up to date"]),
    (&["attach", "tail", "follow", "output"], &["`fleet logs NAME --follow` shows what an agent does"]),
    (
        &["reply", "tell", "say", "send", "message", "msg"],
        &[
            "`fleet prompt NAME \"…\"` sends a message to an agent; `fleet answer NAME \"…\"` answers its question",
        ],
    ),
    (&["history"], &["`fleet events` shows what happened; `fleet list --all` shows what ended"]),
    (
        &["wait"],
        &[
            "`fleet resume`, `create`, `fanout` and `multi` follow their tasks; `fleet logs NAME --follow` one run",
        ],
    ),
    (&["login", "auth", "models"], &["`fleet agents` shows which agents are installed and logged in"]),
    (
        &["install"],
        &["`fleet setup CLIENT` registers codefleet with a client; `fleet doctor` checks everything"],
    ),
    (&["version"], &["`fleet --version` prints it"]),
    (
        &["hold", "release", "edit", "dep", "search", "similar", "import", "export", "order"],
        &["it is a command of the queue: `fleet task --help` lists them"],
    ),
    (
        &["checkout", "cd", "switch"],
        &["`fleet open NAME` opens the folder of an agent; `git switch BRANCH` its branch"],
    ),
    (
        &["ui", "tui", "dashboard", "web"],
        &["`fleet list --watch` shows agents live; `fleet mcp` serves other programs"],
    ),
    (
        &["serve", "server", "daemon"],
        &["`fleet start` starts the runner in the background; `fleet mcp` is the server"],
    ),
    (&["settings", "set"], &["`fleet config set KEY VALUE` sets a value; `fleet config show` shows all"]),
];

/// What is better than what the parser says; nothing if that is good enough.
pub(crate) fn explain(error: &clap::Error, arguments: &[OsString]) -> Option<Problem> {
    match error.kind() {
        ErrorKind::InvalidSubcommand => command(&context(error, ContextKind::InvalidSubcommand)?, arguments)
            .map(|problem| problem.hint("`fleet help` lists the commands")),
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => {
            value(error).map(|problem| problem.hint(format!("`{} --help` explains it", typed(arguments))))
        }
        ErrorKind::UnknownArgument if is_command(arguments, "stop") => Some(
            Problem::new(Code::Usage, "`fleet stop` stops the runner, not single agents")
                .hint("`fleet kill NAME` stops an agent and cancels its task; its work is kept"),
        ),
        _ => None,
    }
}

/// The command of a line that could not be read, such as `fleet task add`.
fn typed(arguments: &[OsString]) -> String {
    let (mut command, mut path) = (Cli::command(), "fleet".to_owned());
    for word in arguments.iter().skip(1).filter_map(|argument| argument.to_str()) {
        if let Some(below) = command.find_subcommand(word).cloned() {
            path = format!("{path} {}", below.get_name());
            command = below;
        }
    }
    path
}

fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        _ => None,
    }
}

/// Whether this is the first word of the command line.
fn is_command(arguments: &[OsString], name: &str) -> bool {
    let is_word = |argument: &&OsString| argument.to_str().is_none_or(|text| !text.starts_with('-'));
    arguments.iter().skip(1).find(is_word).is_some_and(|first| first == name)
}

fn command(name: &str, arguments: &[OsString]) -> Option<Problem> {
    let (_, hints) = MEANT.iter().find(|(names, _)| names.contains(&name))?;
    if !is_command(arguments, name) {
        return None;
    }
    let problem = Problem::new(Code::Usage, format!("there is no command `fleet {}`", escaped(name)));
    Some(hints.iter().fold(problem, |problem, hint| problem.hint(*hint)))
}

/// A flag that wants a number and got something else, or a number that is too small or too large.
fn value(error: &clap::Error) -> Option<Problem> {
    let (flag, given) =
        (context(error, ContextKind::InvalidArg)?, context(error, ContextKind::InvalidValue)?);
    let shown = escaped(&given);
    let name = flag.split([' ', '=']).next().unwrap_or_default();
    let name = if name.starts_with('<') { "N" } else { name };
    let said = error.render().to_string();
    if let Some((first, last)) = range(&said) {
        let message = format!("{name} takes a number from {first} to {last}, not {shown}");
        return Some(Problem::new(Code::Usage, message));
    }
    if given.is_empty() || given.parse::<f64>().is_ok() {
        return None;
    }
    if flag.contains("<1-5>") {
        let message = format!("{name} (-p) takes a number from 1 to 5, not \"{shown}\"");
        return Some(
            Problem::new(Code::Usage, message)
                .hint("for the text of a task use `-d TEXT` or `--file FILE`")
                .hint("`fleet create BRANCH -p TEXT` launches an agent on a prompt"),
        );
    }
    let is_number = flag.ends_with("<N>") || said.contains("invalid digit found");
    is_number.then(|| Problem::new(Code::Usage, format!("{name} takes a whole number, not \"{shown}\"")))
}

/// The limits in "0 is not in 1..=100".
fn range(said: &str) -> Option<(&str, &str)> {
    let (first, rest) = said.split_once(" is not in ")?.1.split_once("..=")?;
    Some((first, rest.split(|c: char| !c.is_ascii_digit()).next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_option_has_one_meaning_in_each_group() {
        fn look(command: &clap::Command, path: &str, found: &mut Vec<String>) {
            for argument in command.get_arguments() {
                let Some(short @ ('n' | 'p' | 'd')) = argument.get_short() else { continue };
                let group = path.split(' ').nth(1).filter(|group| *group == "task").unwrap_or("others");
                found.push(format!("{group} -{short} {}", argument.get_id()));
            }
            for below in command.get_subcommands() {
                look(below, &format!("{path} {}", below.get_name()), found);
            }
        }
        let mut found = vec![];
        look(&Cli::command(), "fleet", &mut found);
        found.sort();
        found.dedup();
        let launch = ["others -d detach", "others -n limit", "others -n lines", "others -p percent"];
        let queue = ["others -p prompt", "task -d description", "task -n limit", "task -p priority"];
        assert_eq!(found, [launch, queue].concat());
    }

    #[test]
    fn no_word_is_meant_twice() {
        let mut words: Vec<&str> = MEANT.iter().flat_map(|(words, _)| words.iter().copied()).collect();
        let all = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), all);
    }
}
