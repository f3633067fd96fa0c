//! What is said about a file: the place, what is wrong, and what to do.

use fleet_core::problem::{Code, Problem};
use fleet_core::text::{escaped, is_unprintable};

use super::{Diagnostic, Severity};
use crate::config::LineIndex;

/// How much of a line is shown.
const SHOWN: usize = 70;

pub(super) fn of_file(file: &str, message: impl Into<String>) -> Diagnostic {
    Diagnostic {
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

pub(crate) fn of_problem(file: &str, problem: Problem) -> Diagnostic {
    let message = problem.to_string();
    let message = message.strip_prefix(&format!("{file}: ")).unwrap_or(&message);
    Diagnostic { help: problem.hints, ..of_file(file, message) }
}

/// A remark with the place at this offset.
pub(super) fn at(mut remark: Diagnostic, lines: &LineIndex<'_>, offset: usize) -> Diagnostic {
    let (line, column) = lines.position(offset);
    let (source, caret) = excerpt(lines.line(line), column - 1);
    (remark.line, remark.column) = (Some(line), Some(column));
    (remark.source, remark.caret) = (Some(source), caret);
    remark
}

/// The part of a line around a column, one visible character for each.
fn excerpt(line: &str, column: usize) -> (String, usize) {
    let skipped = if column > SHOWN - 20 { column - SHOWN / 2 } else { 0 };
    let visible = |c: char| if is_unprintable(c) { ' ' } else { c };
    let shown: String = line.chars().skip(skipped).take(SHOWN).map(visible).collect();
    (shown.trim_end().to_owned(), column - skipped)
}

/// All that is wrong with a file as one problem: the first, and how to see the others.
pub(crate) fn problem(diagnostics: &[Diagnostic]) -> Problem {
    let mut errors = diagnostics.iter().filter(|one| one.severity == Severity::Error);
    let Some(first) = errors.next() else {
        return Problem::new(Code::Internal, "a workflow was refused without a reason");
    };
    let message = format!("{}: {}", first.place(), first.message);
    let problem = Problem { code: Code::WorkflowInvalid, field: None, message, hints: first.help.clone() };
    match errors.count() {
        0 => problem,
        more => problem.hint(format!(
            "`fleet workflow check {}` lists all {} problems",
            escaped(&first.file),
            more + 1
        )),
    }
}
