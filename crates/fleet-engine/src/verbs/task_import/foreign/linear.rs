//! The CSV of Linear's export, and the answers of its API.

use serde_json::Value;

use super::{Issue, IssueState, Object, csv, labels, objects, some_text, text_of, titled};

pub(super) fn read(text: &str) -> Result<Vec<Issue>, String> {
    if text.trim_start().starts_with(['{', '[']) {
        return objects(text)?.iter().enumerate().map(|(at, issue)| of_json(at, issue)).collect();
    }
    csv::table(text)?.iter().enumerate().map(|(at, row)| of_row(at, row)).collect()
}

fn named(id: &str) -> String {
    format!("linear:{id}")
}

fn of_row(at: usize, row: &csv::CsvRow) -> Result<Issue, String> {
    Ok(Issue {
        id: identified(at, &row.get("ID"))?,
        title: titled(at, row.get("Title"))?,
        description: row.get("Description"),
        state: state(&row.get("Status")),
        priority: priority(&row.get("Priority")),
        labels: row.list("Labels"),
        after: row.list("Blocked by").iter().map(|id| named(id)).collect(),
        url: Some(row.get("URL")).filter(|url| !url.is_empty()),
    })
}

fn of_json(at: usize, issue: &Object) -> Result<Issue, String> {
    let state_of = |state: &Value| {
        let word = |name| state.get(name).and_then(Value::as_str);
        self::state(word("type").or_else(|| word("name")).unwrap_or_default())
    };
    let rank = issue.get("priority").and_then(Value::as_u64);
    Ok(Issue {
        id: identified(at, &text_of(issue, "identifier"))?,
        title: titled(at, text_of(issue, "title"))?,
        description: text_of(issue, "description"),
        state: issue.get("state").map(state_of).unwrap_or_default(),
        priority: rank.map_or_else(|| priority(&text_of(issue, "priorityLabel")), by_rank),
        labels: labels(issue, "labels"),
        after: blocked_by(issue),
        url: some_text(issue, "url"),
    })
}

fn identified(at: usize, id: &str) -> Result<String, String> {
    if id.is_empty() { Err(format!("issue {}: it has no id", at + 1)) } else { Ok(named(id)) }
}

/// Relations of others to this one: `blocks` there is what this one waits for.
fn blocked_by(issue: &Object) -> Vec<String> {
    let relations = issue.get("inverseRelations").and_then(|relations| relations.get("nodes"));
    let relations = relations.and_then(Value::as_array).into_iter().flatten();
    let blocking =
        relations.filter(|relation| relation.get("type").and_then(Value::as_str) == Some("blocks"));
    let id = |relation: &Value| Some(named(relation.get("issue")?.get("identifier")?.as_str()?));
    blocking.filter_map(id).collect()
}

/// By the name of a state, or by its type in the API.
fn state(word: &str) -> IssueState {
    match word.to_lowercase().as_str() {
        "done" | "completed" | "closed" => IssueState::Done,
        "canceled" | "cancelled" | "duplicate" => IssueState::Cancelled,
        "backlog" | "triage" => IssueState::Waiting,
        _ => IssueState::Open,
    }
}

fn priority(word: &str) -> Option<u8> {
    Some(match word.to_lowercase().as_str() {
        "urgent" => 5,
        "high" => 4,
        "medium" | "normal" => 3,
        "low" => 2,
        _ => return None,
    })
}

/// 1 is urgent, 4 is low, 0 is none.
fn by_rank(rank: u64) -> Option<u8> {
    u8::try_from(rank).ok().filter(|rank| (1..=4).contains(rank)).map(|rank| 6 - rank)
}
