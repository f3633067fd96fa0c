//! Exit codes: one table, also in `docs/exit-codes.md`.

use std::process::ExitCode;

use fleet_core::problem::Kind;

use crate::Done;
use crate::output::Output;

/// The status for each family of problems.
const fn status(kind: Kind) -> u8 {
    match kind {
        Kind::Internal => 1,
        Kind::Invalid => 2,
        Kind::NotFound => 3,
        Kind::Conflict => 4,
        Kind::Store => 5,
        Kind::Config => 6,
        Kind::Unhealthy => 7,
        Kind::Work => 8,
    }
}

/// Ends the process as a shell says it of a process that Ctrl-C ended: whoever left on purpose is not told of a problem.
pub(crate) fn interrupted() -> ! {
    std::process::exit(130)
}

/// Shows a problem, if there is one, and turns it into the status of the process.
pub(crate) fn code(output: Output, done: Done) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            output.problem(&problem);
            ExitCode::from(status(problem.code.kind()))
        }
    }
}
