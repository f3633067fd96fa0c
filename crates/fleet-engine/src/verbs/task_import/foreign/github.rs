//! `gh issue list --json number,title,body,state,labels,url`, and the answers of the REST API.

use serde_json::Value;

use super::{Issue, IssueState, Object, blockers, labels, objects, priority_of, some_text, text_of, titled};

pub(super) fn read(text: &str) -> Result<Vec<Issue>, String> {
    let issues = objects(text)?;
    // The API lists pull requests among issues.
    let kept = issues.iter().enumerate().filter(|(_, issue)| issue.get("pull_request").is_none());
    kept.map(|(at, issue)| self::issue(at, issue)).collect()
}

fn issue(at: usize, issue: &Object) -> Result<Issue, String> {
    let number = issue.get("number").and_then(Value::as_u64);
    let number = number.ok_or_else(|| format!("issue {}: it has no number", at + 1))?;
    let url = some_text(issue, "html_url").or_else(|| some_text(issue, "url"));
    let repository = url.as_deref().and_then(repository).unwrap_or_default();
    let named = |number: u64| format!("github:{repository}#{number}");
    let (labels, body) = (labels(issue, "labels"), text_of(issue, "body"));
    let is_closed = text_of(issue, "state").eq_ignore_ascii_case("closed");
    let reason = some_text(issue, "stateReason").or_else(|| some_text(issue, "state_reason"));
    let state = match reason.map(|reason| reason.to_lowercase()).as_deref() {
        Some("not_planned" | "duplicate") if is_closed => IssueState::Cancelled,
        _ if is_closed => IssueState::Done,
        _ => IssueState::Open,
    };
    Ok(Issue {
        id: named(number),
        title: titled(at, text_of(issue, "title"))?,
        after: blockers(&body).into_iter().map(named).collect(),
        description: body,
        state,
        priority: priority_of(&labels),
        labels,
        url,
    })
}

/// `OWNER/NAME` of an address such as `https://github.com/OWNER/NAME/issues/7`.
fn repository(url: &str) -> Option<String> {
    let path = url.split_once("://")?.1.split_once('/')?.1;
    let path = path.strip_prefix("repos/").unwrap_or(path);
    Some(path.split_once("/issues/")?.0.to_owned())
}
