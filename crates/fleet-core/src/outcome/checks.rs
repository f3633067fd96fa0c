//! Commands that check an agent's work, and their results.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Evidence, after_stop};
use crate::run::{Ending, Reason};
use crate::text::shortened;

/// The longest end of a check's output that is kept, in bytes.
pub const LONGEST_TAIL: usize = 4 * 1024;
/// A longer command is cut where it is named in a sentence.
const LONGEST_NAME: usize = 200;

/// The checks of a run: those that are due, and the receipts of those that were run, in the same order. The first that
/// fails is the last that is run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checks {
    /// How many have to succeed.
    pub due: usize,
    pub run: Vec<CheckResult>,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckResult {
    /// The command, by its arguments.
    pub argv: Vec<String>,
    /// How it ended.
    pub exit: CheckExit,
    /// How long it took.
    pub seconds: u64,
    /// The end of what it printed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output_tail: String,
}

/// How a check ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckExit {
    /// With this exit status.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It took longer than it may; the sentence names the limit.
    TimedOut(String),
    /// It never ran; a sentence says why.
    NotStarted(String),
}

impl fmt::Display for CheckExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "ended with exit status {code}"),
            Self::Signal(signal) => write!(f, "was ended by signal {signal}"),
            Self::TimedOut(limit) => f.write_str(limit),
            Self::NotStarted(why) => write!(f, "could not be run: {why}"),
        }
    }
}

impl CheckResult {
    pub const fn is_good(&self) -> bool {
        matches!(self.exit, CheckExit::Code(0))
    }

    /// What came of it, in a line.
    pub fn summary(&self) -> String {
        let verb = if self.is_good() { "passed".to_owned() } else { self.exit.to_string() };
        format!("{} {verb} ({}s)", shortened(&self.argv.join(" "), LONGEST_NAME), self.seconds)
    }

    /// What went wrong, with the end of what it printed: what the next attempt has to know.
    fn complaint(&self) -> String {
        let command = self.argv.join(" ");
        let said = format!("the check `{}` {}", shortened(&command, LONGEST_NAME), self.exit);
        match self.output_tail.trim() {
            "" => said,
            tail => format!("{said}; the end of its output:\n{tail}"),
        }
    }
}

/// The end of a run that is a success but for its checks.
pub(super) fn by_checks(evidence: &Evidence) -> Ending {
    let Checks { due, run } = &evidence.checks;
    if let Some(bad) = run.iter().find(|receipt| !receipt.is_good()) {
        return Ending::Failed(Reason::ChecksFailed, bad.complaint());
    }
    if run.len() >= *due {
        return Ending::Succeeded;
    }
    // The run was stopped before the checks were done. What was not checked is not done.
    match &evidence.stopped {
        Some(stop) => after_stop(stop, None),
        None => Ending::Failed(Reason::ChecksFailed, format!("{} of {due} checks were run", run.len())),
    }
}
