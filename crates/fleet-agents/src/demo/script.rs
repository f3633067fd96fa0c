//! The script of the demo agent: a fenced block of the prompt, one step on each line.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use fleet_core::limits::Limit;
use fleet_core::run::Reason;
use fleet_core::time::Span;

use super::child::Child;

/// One thing to do. Paths are relative to the workspace, or absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptStep {
    Write {
        path: String,
        text: String,
    },
    Append {
        path: String,
        text: String,
    },
    Delete {
        path: String,
    },
    Mkdir {
        path: String,
    },
    /// Makes an empty file, as a signal to another process; it is not reported.
    Touch {
        path: String,
    },
    /// Writes the number of the run's first port to a file.
    WritePort {
        path: String,
    },
    /// Commits everything.
    Commit {
        message: String,
    },
    Say {
        text: String,
    },
    Think {
        text: String,
    },
    /// Prints a line as it is.
    Raw {
        text: String,
    },
    Stderr {
        text: String,
    },
    /// Prints this many bytes that are not text.
    Binary {
        bytes: u64,
    },
    /// Prints this many bytes, in lines or as one line without an end.
    Flood {
        bytes: u64,
        lines: bool,
    },
    Sleep {
        span: Duration,
    },
    Hang,
    /// Waits for a file that another process makes.
    WaitFor {
        path: String,
        patience: Duration,
    },
    /// Leaves a process behind.
    Fork {
        child: Child,
    },
    /// Ignores this signal from now on.
    Ignore {
        signal: Signal,
    },
    Usage {
        input: u64,
        output: u64,
        micro_usd: u64,
    },
    /// Will report a file as changed that it does not change.
    Lie {
        path: String,
    },
    /// Asks a person; it will not report an end then.
    Ask {
        text: String,
    },
    /// Asks by `fleet ask`, and says the answer.
    Question {
        text: String,
        options: Vec<String>,
    },
    /// Asks by `fleet ask --park`, which ends the run.
    Park {
        text: String,
    },
    /// Declares its end by `fleet done`.
    Done {
        summary: String,
    },
    /// Declares its end by `fleet fail`.
    Fail {
        summary: String,
    },
    /// Will end with exactly these words instead of its own report.
    Report {
        text: String,
    },
    /// Pretends that its provider wants a pause.
    RateLimit {
        span: Duration,
    },
    /// Pretends that its provider failed.
    Error {
        reason: Reason,
        text: String,
    },
    /// Ends at once, without a report.
    Exit {
        code: u8,
    },
    Die {
        signal: Signal,
    },
    /// Does the step only if the file is not there yet, and makes the file: so that a second attempt differs.
    Once {
        path: String,
        step: Box<Self>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    Hup,
    Int,
    Quit,
    Abrt,
    Kill,
    Term,
}

impl Signal {
    const ALL: &[Self] = &[Self::Hup, Self::Int, Self::Quit, Self::Abrt, Self::Kill, Self::Term];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hup => "SIGHUP",
            Self::Int => "SIGINT",
            Self::Quit => "SIGQUIT",
            Self::Abrt => "SIGABRT",
            Self::Kill => "SIGKILL",
            Self::Term => "SIGTERM",
        }
    }
}

impl FromStr for Signal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.strip_prefix("SIG").unwrap_or(text);
        let found = Self::ALL.iter().find(|signal| signal.as_str().strip_prefix("SIG") == Some(name));
        found.copied().ok_or_else(|| format!("{text:?} is not a signal that I know"))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the script, {text:?}: {problem}")]
pub struct ScriptError {
    /// Which line of the block, from one.
    pub line: usize,
    pub text: String,
    pub problem: String,
}

/// The steps of the first block in a prompt that is fenced by three backquotes and called `demo`; nothing if there
/// is no such block. The whole script is read before anything is done.
pub fn script(prompt: &str) -> Result<Option<Vec<ScriptStep>>, ScriptError> {
    let mut lines = prompt.lines().skip_while(|line| !is_fence(line));
    if lines.next().is_none() {
        return Ok(None);
    }
    let block = lines.take_while(|line| line.trim() != "```").enumerate();
    let steps = block.filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    let read = steps.map(|(number, line)| {
        let error = |problem| ScriptError { line: number + 1, text: line.trim().to_owned(), problem };
        step(line).map_err(error)
    });
    read.collect::<Result<_, _>>().map(Some)
}

fn is_fence(line: &str) -> bool {
    line.trim().strip_prefix("```").is_some_and(|name| name.trim() == "demo")
}

/// One line; on failure a sentence about what is wrong.
fn step(line: &str) -> Result<ScriptStep, String> {
    let (name, rest) = split(line);
    file_step(name, rest)
        .or_else(|| word_step(name, rest))
        .or_else(|| process_step(name, rest))
        .or_else(|| outcome_step(name, rest))
        .unwrap_or_else(|| Err(format!("there is no step {name:?}")))
}

/// Steps that begin with a path.
fn file_step(name: &str, rest: &str) -> Option<Result<ScriptStep, String>> {
    let step: fn(String, &str) -> Result<ScriptStep, String> = match name {
        "write" => |path, rest| Ok(ScriptStep::Write { path, text: line_of(rest) }),
        "append" => |path, rest| Ok(ScriptStep::Append { path, text: line_of(rest) }),
        "delete" => |path, rest| alone(rest, ScriptStep::Delete { path }),
        "mkdir" => |path, rest| alone(rest, ScriptStep::Mkdir { path }),
        "touch" => |path, rest| alone(rest, ScriptStep::Touch { path }),
        "lie" => |path, rest| alone(rest, ScriptStep::Lie { path }),
        "write-port" => |path, rest| alone(rest, ScriptStep::WritePort { path }),
        "wait-for" => |path, rest| {
            let patience = if rest.is_empty() { WAIT_TIMEOUT } else { span(rest)? };
            Ok(ScriptStep::WaitFor { path, patience })
        },
        // Not in itself: a line could then be nested as deep as it is long.
        "once" if split(path(rest).map_or("", |(_, step)| step)).0 == "once" => {
            return Some(Err("`once` cannot stand in `once`".to_owned()));
        }
        "once" => |path, rest| Ok(ScriptStep::Once { path, step: Box::new(step(rest)?) }),
        _ => return None,
    };
    Some(path(rest).and_then(|(path, rest)| step(path, rest)))
}

/// How long to wait for a file by default.
const WAIT_TIMEOUT: Duration = Duration::from_mins(1);

/// Steps that say something.
fn word_step(name: &str, rest: &str) -> Option<Result<ScriptStep, String>> {
    let text = unescaped(rest);
    let step = match name {
        "say" => ScriptStep::Say { text },
        "think" => ScriptStep::Think { text },
        "raw" => ScriptStep::Raw { text },
        "stderr" => ScriptStep::Stderr { text },
        "ask" => ScriptStep::Ask { text },
        "question" => {
            let mut parts = text.split(" | ").map(ToOwned::to_owned);
            ScriptStep::Question { text: parts.next().unwrap_or_default(), options: parts.collect() }
        }
        "park" => ScriptStep::Park { text },
        "commit" => ScriptStep::Commit { message: text },
        "done" => ScriptStep::Done { summary: text },
        "fail" => ScriptStep::Fail { summary: text },
        // JSON has escapes of its own.
        "report" => ScriptStep::Report { text: rest.to_owned() },
        _ => return None,
    };
    Some(if rest.is_empty() { Err("some words are missing".to_owned()) } else { Ok(step) })
}

/// Steps about the process itself and its streams.
fn process_step(name: &str, rest: &str) -> Option<Result<ScriptStep, String>> {
    let read = match name {
        "sleep" => span(rest).map(|span| ScriptStep::Sleep { span }),
        "hang" => alone(rest, ScriptStep::Hang),
        "fork" => rest.parse().map(|child| ScriptStep::Fork { child }),
        "ignore" => rest.parse().map(|signal| ScriptStep::Ignore { signal }),
        "die" => rest.parse().map(|signal| ScriptStep::Die { signal }),
        "exit" => number(rest).map(|code| ScriptStep::Exit { code }),
        "binary" => size(rest).map(|bytes| ScriptStep::Binary { bytes }),
        "flood" => flood(rest),
        _ => return None,
    };
    Some(read)
}

/// Steps that pretend something about the provider.
fn outcome_step(name: &str, rest: &str) -> Option<Result<ScriptStep, String>> {
    let read = match name {
        "usage" => usage(rest),
        "rate-limit" => span(rest).map(|span| ScriptStep::RateLimit { span }),
        "error" => {
            let (reason, text) = split(rest);
            let reason: Result<Reason, _> = reason.parse();
            let text = unescaped(text);
            reason.map(|reason| ScriptStep::Error { reason, text }).map_err(|error| error.to_string())
        }
        _ => return None,
    };
    Some(read)
}

/// The first word, and what follows it.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim_start()))
}

fn alone(rest: &str, step: ScriptStep) -> Result<ScriptStep, String> {
    if rest.is_empty() { Ok(step) } else { Err(format!("{rest:?} is too much")) }
}

/// A path, in double quotes if it has spaces.
fn path(text: &str) -> Result<(String, &str), String> {
    let (path, rest) = match text.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').ok_or("the path has no closing quote")?,
        None => split(text),
    };
    if path.is_empty() {
        return Err("a path is missing".to_owned());
    }
    Ok((path.to_owned(), rest.trim_start()))
}

/// The content of a file: always with a line end, so that appending makes lines.
fn line_of(text: &str) -> String {
    unescaped(text) + "\n"
}

/// `\n`, `\t` and `\\`; any other backslash is literal.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let (character, used) = match after.as_bytes().first() {
            Some(b'n') => ('\n', 1),
            Some(b't') => ('\t', 1),
            Some(b'\\') => ('\\', 1),
            _ => ('\\', 0),
        };
        out.push(character);
        rest = &after[used..];
    }
    out + rest
}

fn span(text: &str) -> Result<Duration, String> {
    text.parse::<Span>().map(|span| span.0).map_err(|error| error.to_string())
}

fn number<N: FromStr<Err: fmt::Display>>(text: &str) -> Result<N, String> {
    text.parse().map_err(|error| format!("{text:?} is not a number that fits: {error}"))
}

/// `100`, `64kB`, `10MB`, `1GB`.
fn size(text: &str) -> Result<u64, String> {
    let unit = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let factor = match text[unit..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        other => return Err(format!("{other:?} is not a unit of size: write for example 10MB")),
    };
    number::<u64>(&text[..unit])?.checked_mul(factor).ok_or_else(|| format!("{text} is too much"))
}

fn flood(rest: &str) -> Result<ScriptStep, String> {
    let (bytes, more) = split(rest);
    let lines = match more {
        "" => true,
        "noline" => false,
        other => return Err(format!("{other:?} is not a way to flood: there is only `noline`")),
    };
    Ok(ScriptStep::Flood { bytes: size(bytes)?, lines })
}

fn usage(rest: &str) -> Result<ScriptStep, String> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [input, output, usd] = words[..] else { return Err("write `usage INPUT OUTPUT USD`".to_owned()) };
    let micro_usd = match format!("usd={usd}").parse() {
        Ok(Limit::MicroUsd(Some(micro_usd))) => micro_usd,
        _ if usd == "0" => 0,
        _ => return Err(format!("{usd:?} is not an amount of US dollars: write for example 0.25")),
    };
    Ok(ScriptStep::Usage { input: number(input)?, output: number(output)?, micro_usd })
}
