//! Asking before something is stopped or removed.

use fleet_core::problem::{Code, Outcome, Problem};

use super::Context;
use crate::output::confirm;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Consent {
    /// Go on.
    Given,
    /// Leave everything as it is.
    Refused,
    /// Nobody is there to ask.
    Nobody,
}

/// Asks, unless the answer was given with the command. A question about what was not shown would be none, so answers
/// in JSON are never preceded by one.
fn consent(context: &Context, yes: bool, question: &str) -> Consent {
    if yes {
        return Consent::Given;
    }
    match if context.output.is_json() { None } else { confirm(question) } {
        Some(true) => Consent::Given,
        Some(false) => Consent::Refused,
        None => Consent::Nobody,
    }
}

/// For commands that have shown what they would remove: what they say when they leave it at that. `size` is how much it is,
/// for whoever is to decide later.
pub(crate) fn spared(context: &Context, yes: bool, question: &str, size: Option<&str>) -> Option<String> {
    match consent(context, yes, question) {
        Consent::Given => None,
        Consent::Refused => Some("nothing was removed".to_owned()),
        Consent::Nobody => {
            let size = size.map(|size| format!(" ({size})")).unwrap_or_default();
            Some(format!("nothing was removed; `--yes` removes it{size}"))
        }
    }
}

/// For commands that do nothing without an answer: whether to go on.
pub(crate) fn insist(context: &Context, yes: bool, question: &str, undone: &str) -> Outcome<bool> {
    match consent(context, yes, question) {
        Consent::Given => Ok(true),
        Consent::Refused => Ok(false),
        Consent::Nobody => {
            let problem = Problem::new(Code::Usage, format!("no terminal to confirm, so {undone}"));
            Err(problem.hint("`--yes` does it without asking"))
        }
    }
}
