//! How verbs' answers and problems look to a client.

use fleet_core::problem::{Code, Outcome, Problem, ProblemKind};
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Value, json};

/// An answer as structured content, and the same as text for clients that know only that; with notes, if there are any.
pub(super) fn answer(outcome: Outcome<impl Serialize>, notes: Vec<String>) -> CallToolResult {
    let value = outcome.and_then(|answer| {
        serde_json::to_value(answer).map_err(|error| Problem::new(Code::Internal, error.to_string()))
    });
    match value {
        Ok(value) => CallToolResult::structured(with_notes(value, notes)),
        Err(problem) => refusal(&problem),
    }
}

fn with_notes(mut answer: Value, notes: Vec<String>) -> Value {
    if let (false, Value::Object(fields)) = (notes.is_empty(), &mut answer) {
        let all = fields.entry("notes").or_insert_with(|| json!([]));
        if let Value::Array(all) = all {
            all.extend(notes.into_iter().map(Value::from));
        }
    }
    answer
}

/// A problem: the code for programs, the sentence and what to do next for models. The text is the same JSON, because
/// clients of the Python codefleet read only that.
pub(super) fn refusal(problem: &Problem) -> CallToolResult {
    let data = data(problem);
    let mut result = CallToolResult::error(vec![ContentBlock::text(data.to_string())]);
    result.structured_content = Some(data);
    result
}

/// Something that must be in an answer, and is not.
pub(super) fn lost(what: &str) -> Problem {
    Problem::new(Code::Internal, format!("internal: {what} is missing from the answer"))
}

pub(super) fn text(problem: &Problem) -> String {
    let first = format!("{problem} ({})", problem.code);
    let hints = problem.hints.iter().map(|hint| format!("hint: {hint}"));
    std::iter::once(first).chain(hints).collect::<Vec<_>>().join("\n")
}

/// `error` and `details` are what the Python codefleet has instead: the class of an exception, and its text.
pub(super) fn data(problem: &Problem) -> Value {
    json!({
        "error": exception(problem),
        "details": problem.message,
        "code": problem.code,
        "message": problem.to_string(),
        "hint": problem.hints.first(),
        "hints": problem.hints,
    })
}

fn exception(problem: &Problem) -> &'static str {
    match (problem.code, problem.field.as_deref()) {
        (_, Some("base_ref")) => "GitError",
        (Code::SpawnRefused, _) => "RuntimeError",
        (code, _) => match code.kind() {
            ProblemKind::Invalid | ProblemKind::NotFound | ProblemKind::Conflict => "ValueError",
            _ => "RuntimeError",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_reads_as_an_exception_of_the_original_too() {
        let told = data(&Problem::field("base_ref", "there is no such branch").hint("name another"));
        assert_eq!(
            (&told["error"], &told["details"]),
            (&json!("GitError"), &json!("there is no such branch"))
        );
        assert_eq!(told["message"], "base_ref: there is no such branch");
        for (code, error) in [
            (Code::TaskNotFound, "ValueError"),
            (Code::SpawnRefused, "RuntimeError"),
            (Code::StoreBusy, "RuntimeError"),
        ] {
            assert_eq!(data(&Problem::new(code, "no"))["error"], error);
        }
    }

    #[test]
    fn notes_are_added_to_those_of_the_answer() {
        let told = |value: Value| with_notes(value, vec!["b".to_owned()]);
        assert_eq!(told(json!({"notes": ["a"]})), json!({"notes": ["a", "b"]}));
        assert_eq!(told(json!({"count": 1})), json!({"count": 1, "notes": ["b"]}));
        assert_eq!(with_notes(json!({"count": 1}), Vec::new()), json!({"count": 1}));
    }
}
