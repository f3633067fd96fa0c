//! How verbs' answers and problems look to a client.

use fleet_core::problem::{Code, Outcome, Problem};
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Value, json};

/// An answer as structured content, and the same as text for clients that know only that.
pub(super) fn answer(outcome: Outcome<impl Serialize>) -> CallToolResult {
    let value = outcome.and_then(|answer| {
        serde_json::to_value(answer).map_err(|error| Problem::new(Code::Internal, error.to_string()))
    });
    match value {
        Ok(value) => CallToolResult::structured(value),
        Err(problem) => refusal(&problem),
    }
}

/// A problem: the code for programs, the sentence and what to do next for models.
pub(super) fn refusal(problem: &Problem) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(text(problem))]);
    result.structured_content = Some(data(problem));
    result
}

/// Something that must be in an answer, and is not.
pub(super) fn lost(what: &str) -> Problem {
    Problem::new(Code::Internal, format!("{what} was lost on the way"))
}

pub(super) fn text(problem: &Problem) -> String {
    let first = format!("{problem} ({})", problem.code);
    let hints = problem.hints.iter().map(|hint| format!("hint: {hint}"));
    std::iter::once(first).chain(hints).collect::<Vec<_>>().join("\n")
}

pub(super) fn data(problem: &Problem) -> Value {
    json!({
        "code": problem.code,
        "message": problem.to_string(),
        "hint": problem.hints.first(),
        "hints": problem.hints,
    })
}
