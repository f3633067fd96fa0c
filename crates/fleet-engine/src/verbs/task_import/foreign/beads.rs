//! `bd export`: one issue per line.

use serde_json::Value;

use super::{Issue, IssueState, Object, labels, objects, text_of, titled};

/// Kinds of dependencies that keep an issue from being worked on.
const BLOCKING: [&str; 3] = ["blocks", "conditional-blocks", "waits-for"];

pub(super) fn read(text: &str) -> Result<Vec<Issue>, String> {
    let issues = objects(text)?;
    let kept = issues.iter().enumerate().filter(|(_, issue)| text_of(issue, "status") != "tombstone");
    kept.map(|(at, issue)| self::issue(at, issue)).collect()
}

fn issue(at: usize, issue: &Object) -> Result<Issue, String> {
    let id = text_of(issue, "id");
    if id.is_empty() {
        return Err(format!("issue {}: it has no id", at + 1));
    }
    let after = issue.get("dependencies").and_then(Value::as_array).into_iter().flatten();
    let after = after.filter_map(|dependency| {
        let kind = dependency.get("type").and_then(Value::as_str).unwrap_or("blocks");
        let on = dependency.get("depends_on_id").or_else(|| dependency.get("id")).and_then(Value::as_str)?;
        BLOCKING.contains(&kind).then(|| named(on))
    });
    // Beads counts from 0, the most urgent, to 4.
    let priority = issue.get("priority").and_then(Value::as_u64).and_then(|rank| u8::try_from(rank).ok());
    Ok(Issue {
        id: named(&id),
        title: titled(at, text_of(issue, "title"))?,
        description: description(issue),
        state: state(&text_of(issue, "status"), &text_of(issue, "issue_type")),
        priority: priority.map(|rank| 5 - rank.min(4)),
        labels: labels(issue, "labels"),
        after: after.collect(),
        url: None,
    })
}

fn named(id: &str) -> String {
    format!("beads:{id}")
}

/// An epic is done when its parts are: nobody works on it by itself.
fn state(status: &str, kind: &str) -> IssueState {
    match (status, kind) {
        ("closed", _) => IssueState::Done,
        ("blocked" | "deferred" | "pinned" | "hooked", _) | (_, "epic") => IssueState::Waiting,
        _ => IssueState::Open,
    }
}

fn description(issue: &Object) -> String {
    let parts = [
        ("", "description"),
        ("## Design\n\n", "design"),
        ("## Acceptance criteria\n\n", "acceptance_criteria"),
        ("## Notes\n\n", "notes"),
    ];
    let part = |(title, name): (&str, &str)| {
        let text = text_of(issue, name);
        (!text.trim().is_empty()).then(|| format!("{title}{}", text.trim()))
    };
    parts.into_iter().filter_map(part).collect::<Vec<_>>().join("\n\n")
}
