//! How answers are shown: data to standard output, everything else to standard error.

mod amount;
mod diff;
pub(crate) mod pager;
mod setting;
mod style;
mod table;
mod when;
mod words;

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;
use serde::Serialize;

use crate::cli::{ColorWhen, Global};

pub(crate) use amount::{bytes, cost, money, number, tokens, usage};
pub(crate) use diff::Painter;
pub(crate) use setting::value;
pub(crate) use style::{alarm, dim, paint_status, strong, warn};
pub(crate) use table::{Column, TITLE, columns, cut, fields, table};
pub(crate) use when::{ago, until};
pub(crate) use words::{agent_and_model, arrows, wrapped};

/// Where and how a command shows what it has to say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    json: bool,
}

impl Output {
    pub(crate) fn new(global: &Global) -> Self {
        if let Some(when) = global.color {
            choose_color(when);
        }
        Self { json: global.json }
    }

    /// JSON whatever was asked for, because what was asked for could not be read.
    pub(crate) const fn json() -> Self {
        Self { json: true }
    }

    /// For people, whatever was asked for.
    pub(crate) const fn plain() -> Self {
        Self { json: false }
    }

    pub(crate) const fn is_json(self) -> bool {
        self.json
    }

    /// Shows an answer: as JSON, or as people read it.
    pub(crate) fn show<T: Serialize>(self, answer: &T, human: impl FnOnce() -> String) -> Outcome<()> {
        if self.json { print_json(answer) } else { print(&human()) }
    }

    /// Shows a list, and below it what it leaves out; to people, `empty` instead of an empty one.
    pub(crate) fn show_list<T: Serialize>(
        self,
        list: &T,
        empty: Option<&str>,
        human: impl FnOnce() -> String,
        more: impl IntoIterator<Item = String>,
    ) -> Outcome<()> {
        if let (Some(empty), false) = (empty, self.json) {
            self.note(empty);
            return Ok(());
        }
        self.show(list, human)?;
        more.into_iter().for_each(|line| self.note(&dim(&line)));
        Ok(())
    }

    /// A remark beside the answer; left out of JSON.
    pub(crate) fn note(self, text: &str) {
        let line = format!("{text}\n");
        if !self.json && (!std::io::stderr().is_terminal() || pager::write(line.as_bytes()).is_none()) {
            let _ = write!(anstream::stderr(), "{line}");
        }
    }

    pub(crate) fn problem(self, problem: &Problem) {
        // Nothing better can be done when not even the message can be written.
        let _ = if self.json { json_problem(problem) } else { human_problem(problem) };
    }
}

fn json_problem(problem: &Problem) -> std::io::Result<()> {
    let text = serde_json::json!({ "error": problem }).to_string();
    writeln!(anstream::stderr(), "{text}")
}

fn human_problem(problem: &Problem) -> std::io::Result<()> {
    let mut out = anstream::stderr().lock();
    let (red, bold) = (style::RED, style::BOLD);
    writeln!(out, "{red}error{red:#}{bold}:{bold:#} {}", escaped(&problem.to_string()))?;
    for hint in &problem.hints {
        writeln!(out, "  {} {}", dim("→"), escaped(hint))?;
    }
    writeln!(out, "  {}", dim(&format!("fleet explain {}", problem.code)))
}

/// One JSON value: spread out for a person at a terminal, one line for a program.
pub(crate) fn print_json<T: Serialize>(answer: &T) -> Outcome<()> {
    let spread = std::io::stdout().is_terminal();
    let text = if spread { serde_json::to_string_pretty(answer) } else { serde_json::to_string(answer) };
    print(&text.map_err(|error| Problem::new(Code::Internal, error.to_string()))?)
}

pub(crate) fn is_colored() -> bool {
    static COLORED: OnceLock<bool> = OnceLock::new();
    *COLORED.get_or_init(|| anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never)
}

/// Columns and rows of the terminal that standard output is, if it is one. What other streams are does not matter: a
/// pipe gets everything, also when it was made at a terminal.
pub(crate) fn terminal() -> Option<(usize, usize)> {
    let size = terminal_size::terminal_size_of(std::io::stdout());
    size.map(|(width, height)| (usize::from(width.0), usize::from(height.0)))
}

/// Writes text and a line end to standard output. A reader that went away is no problem of ours.
pub(crate) fn print(text: &str) -> Outcome<()> {
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let mut out = Stdout;
    out.write_all(text.as_bytes())
        .and_then(|()| out.write_all(end.as_bytes()))
        .and_then(|()| out.flush())
        .map_err(|error| Problem::new(Code::Io, format!("cannot write to standard output: {error}")))
}

/// Standard output, whose reader may go away without that being a problem of ours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        or_leave(pager::write(bytes).unwrap_or_else(|| std::io::stdout().lock().write(bytes)))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        or_leave(std::io::stdout().lock().flush())
    }
}

fn or_leave<T>(done: std::io::Result<T>) -> std::io::Result<T> {
    match done {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        other => other,
    }
}

/// `1 task`, `2 tasks`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// For this process, before anything is written.
pub(crate) fn choose_color(when: ColorWhen) {
    match when {
        ColorWhen::Auto => anstream::ColorChoice::Auto,
        ColorWhen::Always => anstream::ColorChoice::Always,
        ColorWhen::Never => anstream::ColorChoice::Never,
    }
    .write_global();
}

/// Asks a person; nothing when there is nobody to ask.
pub(crate) fn confirm(question: &str) -> Option<bool> {
    if !can_ask() {
        return None;
    }
    let _ = write!(anstream::stderr(), "{question} [y/N] ");
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer);
    Some(read.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Whether there is a terminal for a question and its answer.
pub(crate) fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}
