//! Exit codes. `docs/exit-codes.md` has the same table.

use std::process::ExitCode;

use fleet_core::problem::ProblemKind;
use tokio::signal::unix::SignalKind;

use crate::Done;
use crate::output::{Output, pager};

/// The status for each family of problems.
const fn status(kind: ProblemKind) -> u8 {
    match kind {
        ProblemKind::Internal => 1,
        ProblemKind::Invalid => 2,
        ProblemKind::NotFound => 3,
        ProblemKind::Conflict => 4,
        ProblemKind::Store => 5,
        ProblemKind::Config => 6,
        ProblemKind::Unhealthy => 7,
        ProblemKind::Work => 8,
    }
}

/// Exits as after Ctrl-C, without an error message: the user left on purpose.
pub(crate) fn interrupted() -> ! {
    stopped_by(SignalKind::interrupt())
}

/// Ends the process as a shell says it of a process that a signal ended.
pub(crate) fn stopped_by(signal: SignalKind) -> ! {
    pager::finish();
    std::process::exit(128 + signal.as_raw_value())
}

/// Shows a problem, if there is one, and turns it into the status of the process.
pub(crate) fn code(output: Output, done: Done) -> ExitCode {
    pager::finish();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            output.problem(&problem);
            ExitCode::from(status(problem.code.kind()))
        }
    }
}

#[cfg(test)]
mod tests {
    use fleet_core::problem::Code;

    use super::*;

    /// The row of the table with the codes that end with this status.
    fn row(line: &str) -> Option<String> {
        let (number, rest) = line.strip_prefix("| ")?.split_once(" | ")?;
        let number: u8 = number.parse().ok().filter(|number| *number > 0)?;
        let (meaning, _) = rest.split_once(" | ")?;
        let codes = Code::ALL.iter().filter(|code| status(code.kind()) == number);
        let codes: Vec<String> = codes.map(|code| format!("`{code}`")).collect();
        Some(format!("| {number} | {meaning} | {} |", codes.join(", ")))
    }

    #[test]
    fn the_table_of_the_documentation_lists_every_code() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/exit-codes.md");
        let text = std::fs::read_to_string(path).unwrap();
        let (table, rest) = text.split_once("\nSome details:").unwrap();
        let rows: String =
            table.lines().map(|line| row(line).unwrap_or_else(|| line.to_owned()) + "\n").collect();
        let wanted = format!("{rows}\nSome details:{rest}");
        if text != wanted {
            std::fs::write(path, wanted).unwrap();
            panic!(
                "docs/exit-codes.md was not up to date; it is now: look at the change, and run the test again"
            );
        }
    }
}
