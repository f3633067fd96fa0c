//! Asking before something is stopped or removed.

use fleet_core::problem::{Code, Outcome, Problem};

use super::Context;
use crate::output::confirm;

/// What a person said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    /// Go on.
    Given,
    /// Leave everything as it is.
    Refused,
    /// Nobody is there to ask.
    Nobody,
}

/// Asks, unless the answer was given with the command. A question about what was not shown would be none, so answers
/// in JSON are never preceded by one.
pub(crate) fn consent(context: &Context, yes: bool, question: &str) -> Consent {
    if yes {
        return Consent::Given;
    }
    match if context.output.is_json() { None } else { confirm(question) } {
        Some(true) => Consent::Given,
        Some(false) => Consent::Refused,
        None => Consent::Nobody,
    }
}

/// For commands that do nothing without an answer: whether to go on.
pub(crate) fn insist(context: &Context, yes: bool, question: &str, undone: &str) -> Outcome<bool> {
    match consent(context, yes, question) {
        Consent::Given => Ok(true),
        Consent::Refused => Ok(false),
        Consent::Nobody => {
            let problem = Problem::new(Code::Usage, format!("nobody is there to ask, so {undone}"));
            Err(problem.hint("`--yes` does it without asking"))
        }
    }
}
