//! What is said about a file: the place, what is wrong, and what to do.

use fleet_core::problem::{Code, Problem};
use fleet_core::text::{escaped, is_unprintable};
use serde::Serialize;

use crate::config::Lines;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The workflow cannot run.
    Error,
    /// It can, but perhaps not here or not as meant.
    Warning,
}

/// One remark about a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1; none where it is about the file as a whole.
    pub line: Option<usize>,
    /// The column in characters, from 1.
    pub column: Option<usize>,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What to do, or what was probably meant.
    pub help: Vec<String>,
    /// The line itself, or the part of it around the place.
    pub source: Option<String>,
    /// Where the place is in `source`, in characters from 0.
    #[serde(skip)]
    pub caret: usize,
}

/// As much of a line is shown.
const SHOWN: usize = 70;

impl Diagnostic {
    /// About the file as a whole.
    pub(super) fn of_file(file: &str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            file: file.to_owned(),
            line: None,
            column: None,
            message: message.into(),
            help: Vec::new(),
            source: None,
            caret: 0,
        }
    }

    /// A problem with a file that was not even read.
    pub(crate) fn of_problem(file: &str, problem: Problem) -> Self {
        let message =
            problem.message.strip_prefix(&format!("{file}: ")).unwrap_or(&problem.message).to_owned();
        Self { help: problem.hints, ..Self::of_file(file, message) }
    }

    /// With the place at this offset.
    pub(super) fn at(mut self, lines: &Lines<'_>, offset: usize) -> Self {
        let (line, column) = lines.position(offset);
        let (source, caret) = excerpt(lines.line(line), column - 1);
        (self.line, self.column) = (Some(line), Some(column));
        (self.source, self.caret) = (Some(source), caret);
        self
    }

    /// The place as compilers write it.
    pub fn place(&self) -> String {
        let numbers = [self.line, self.column].into_iter().flatten().map(|number| format!(":{number}"));
        format!("{}{}", escaped(&self.file), numbers.collect::<String>())
    }
}

/// The part of a line around a column, one visible character for each.
fn excerpt(line: &str, column: usize) -> (String, usize) {
    let skipped = if column > SHOWN - 20 { column - SHOWN / 2 } else { 0 };
    let visible = |c: char| if is_unprintable(c) { ' ' } else { c };
    let shown: String = line.chars().skip(skipped).take(SHOWN).map(visible).collect();
    (shown.trim_end().to_owned(), column - skipped)
}

/// All that is wrong with a file as one problem: the first, and how to see the others.
pub fn problem(diagnostics: &[Diagnostic]) -> Problem {
    let mut errors = diagnostics.iter().filter(|one| one.severity == Severity::Error);
    let Some(first) = errors.next() else {
        return Problem::new(Code::Internal, "a workflow was refused without a reason");
    };
    let message = format!("{}: {}", first.place(), first.message);
    let problem = Problem { code: Code::WorkflowInvalid, message, hints: first.help.clone() };
    match errors.count() {
        0 => problem,
        more => problem.hint(format!(
            "`fleet workflow check {}` lists all {} problems",
            escaped(&first.file),
            more + 1
        )),
    }
}
