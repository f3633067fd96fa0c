//! `glab issue list --output json`, the answers of the REST API, and the CSV that GitLab sends by mail.

use serde_json::Value;

use super::{
    Issue, IssueState, Object, blockers, csv, labels, objects, priority_of, some_text, text_of, titled,
};

pub(super) fn read(text: &str) -> Result<Vec<Issue>, String> {
    if text.trim_start().starts_with(['{', '[']) {
        return objects(text)?.iter().enumerate().map(|(at, issue)| of_json(at, issue)).collect();
    }
    csv::table(text)?.iter().enumerate().map(|(at, row)| of_row(at, row)).collect()
}

fn of_json(at: usize, issue: &Object) -> Result<Issue, String> {
    let number = issue.get("iid").and_then(Value::as_u64);
    let number = number.ok_or_else(|| format!("issue {}: it has no iid", at + 1))?;
    Ok(finish(Issue {
        id: number.to_string(),
        title: titled(at, text_of(issue, "title"))?,
        description: text_of(issue, "description"),
        state: state(&text_of(issue, "state")),
        labels: labels(issue, "labels"),
        url: some_text(issue, "web_url"),
        ..Issue::default()
    }))
}

fn of_row(at: usize, row: &csv::CsvRow) -> Result<Issue, String> {
    Ok(finish(Issue {
        id: row.get("Issue ID").trim_start_matches('#').to_owned(),
        title: titled(at, row.get("Title"))?,
        description: row.get("Description"),
        state: state(&row.get("State")),
        labels: row.list("Labels"),
        url: Some(row.get("URL")).filter(|url| !url.is_empty()),
        ..Issue::default()
    }))
}

/// What follows from the rest: the whole id, the priority, and what it waits for.
fn finish(issue: Issue) -> Issue {
    let project = issue.url.as_deref().and_then(project).unwrap_or_default();
    let named = |number: &dyn std::fmt::Display| format!("gitlab:{project}#{number}");
    let after = blockers(&issue.description).iter().map(|number| named(number)).collect();
    Issue { id: named(&issue.id), after, priority: priority_of(&issue.labels), ..issue }
}

fn state(state: &str) -> IssueState {
    if state.eq_ignore_ascii_case("closed") { IssueState::Done } else { IssueState::Open }
}

/// `GROUP/NAME` of an address such as `https://gitlab.com/GROUP/NAME/-/issues/7`.
fn project(url: &str) -> Option<String> {
    let path = url.split_once("://")?.1.split_once('/')?.1;
    Some(path.split_once("/-/")?.0.to_owned())
}
