//! Asking before something is stopped or removed.

use fleet_core::problem::{Code, Outcome, Problem};

use super::Context;
use crate::output::{can_ask, confirm};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConsentAnswer {
    Given,
    Refused,
    /// There is no terminal.
    Nobody,
}

/// Asks, unless the answer was given with the command. A question about what was not shown would be none, so answers
/// in JSON are never preceded by one.
fn consent(context: &Context, yes: bool, question: &str) -> ConsentAnswer {
    if yes {
        return ConsentAnswer::Given;
    }
    match if context.output.is_json() { None } else { confirm(question) } {
        Some(true) => ConsentAnswer::Given,
        Some(false) => ConsentAnswer::Refused,
        None => ConsentAnswer::Nobody,
    }
}

/// For commands that remove what the preview lists: what they answer when they remove nothing. Before a question the
/// preview goes to standard error; without a terminal it is the answer. `size` is how much would be removed.
pub(crate) fn confirm_removal(
    context: &Context,
    yes: bool,
    preview: &str,
    question: &str,
    size: Option<&str>,
) -> Option<String> {
    if !yes && can_ask() {
        context.output.note(preview);
    }
    match consent(context, yes, question) {
        ConsentAnswer::Given => None,
        ConsentAnswer::Refused => Some("nothing was removed".to_owned()),
        ConsentAnswer::Nobody => {
            let size = size.map(|size| format!(" ({size})")).unwrap_or_default();
            Some(format!("{preview}\n\nnothing was removed; `--yes` removes it{size}"))
        }
    }
}

/// For commands that do nothing without an answer: whether to do it.
pub(crate) fn require_consent(context: &Context, yes: bool, question: &str, undone: &str) -> Outcome<bool> {
    match consent(context, yes, question) {
        ConsentAnswer::Given => Ok(true),
        ConsentAnswer::Refused => Ok(false),
        ConsentAnswer::Nobody => {
            let problem = Problem::new(Code::Usage, format!("no terminal to confirm, so {undone}"));
            Err(problem.hint("`--yes` does it without asking"))
        }
    }
}
