//! From a JSON object to a report. Fields with an unexpected shape are ignored.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{
    LONGEST_ITEM, LONGEST_SUMMARY, MAX_ITEMS, Points, Report, ReportStatus, TestLine, TestOutcome, Verdict,
};
use crate::text::shortened;

type Object = Map<String, Value>;

const FILES: &[&str] = &["files_changed", "changed_files", "files"];
const COMMITS: &[&str] = &["commits"];
const TESTS: &[&str] = &["tests", "tests_run", "checks"];
const NEXT_STEPS: &[&str] = &["next_steps", "follow_ups", "todo"];
const ITEMS: &[&str] = &["items", "list"];
const ENTRY: &[&str] = &["item", "task", "text", "title", "description", "name"];

/// The report that an object is, or that it wraps.
pub(super) fn report(object: &Object) -> Option<Report> {
    const WRAPPERS: &[&str] = &["report", "result", "structured_output"];
    plain_report(object).or_else(|| plain_report(first(object, WRAPPERS)?.as_object()?))
}

/// A summary, and either a status or one of the lists: less is any JSON object, not a report.
fn plain_report(object: &Object) -> Option<Report> {
    let summary = first(object, &["summary"])?.as_str()?.trim();
    let said = first(object, &["status", "outcome"]).and_then(Value::as_str).and_then(status);
    let has_list =
        [FILES, COMMITS, TESTS, NEXT_STEPS, ITEMS].iter().any(|names| first(object, names).is_some());
    if summary.is_empty() || !(said.is_some() || has_list) {
        return None;
    }
    Some(Report {
        summary: shortened(summary, LONGEST_SUMMARY).into_owned(),
        // An agent that reports lists without a status thinks it is done.
        status: said.unwrap_or(ReportStatus::Completed),
        files_changed: texts(first(object, FILES), &["path", "file", "name"]),
        commits: texts(first(object, COMMITS), &["hash", "sha", "oid", "id", "commit"]),
        tests: tests(first(object, TESTS)),
        next_steps: texts(first(object, NEXT_STEPS), &["step", "text", "title", "description"]),
        verdict: verdict(object),
        items: first(object, ITEMS).map(entries),
    })
}

/// A verdict under its own name, or its parts beside the summary.
fn verdict(object: &Object) -> Option<Verdict> {
    let own =
        first(object, &["verdict", "judgement", "judgment"]).and_then(Value::as_object).unwrap_or(object);
    let mut verdict = Verdict {
        approve: first(own, &["approve", "approved"]).and_then(approval),
        winner: first(own, &["winner"]).and_then(Value::as_str).map(|name| name.trim().to_owned()),
        scores: scores(first(own, &["scores", "points"])),
    };
    verdict.winner = verdict.winner.filter(|name| !name.is_empty());
    verdict.bound();
    (!verdict.is_empty()).then_some(verdict)
}

fn approval(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(yes) => Some(*yes),
        Value::String(word) => match normal(word).as_str() {
            "yes" | "true" | "approve" | "approved" => Some(true),
            "no" | "false" | "reject" | "rejected" | "changes_requested" | "request_changes" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// An object from names to points, or a list of objects with both.
fn scores(value: Option<&Value>) -> BTreeMap<String, Points> {
    let points = |value: &Value| value.as_f64().map(Points::from);
    match value {
        Some(Value::Object(object)) => {
            object.iter().filter_map(|(name, value)| Some((name.clone(), points(value)?))).collect()
        }
        Some(Value::Array(entries)) => entries
            .iter()
            .filter_map(|entry| {
                let entry = entry.as_object()?;
                let name = first(entry, &["name", "stage"])?.as_str()?;
                Some((name.to_owned(), points(first(entry, &["score", "points"])?)?))
            })
            .collect(),
        _ => BTreeMap::new(),
    }
}

fn first<'a>(object: &'a Object, names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| object.get(*name)).filter(|value| !value.is_null())
}

/// The words that models use. What says that not all was done counts as blocked: a person has to look.
fn status(text: &str) -> Option<ReportStatus> {
    match normal(text).as_str() {
        "completed"
        | "complete"
        | "done"
        | "success"
        | "succeeded"
        | "successful"
        | "finished"
        | "ok"
        | "completed_with_changes" => Some(ReportStatus::Completed),
        "completed_no_changes"
        | "completed_without_changes"
        | "no_changes"
        | "no_change"
        | "unchanged"
        | "nothing_to_do"
        | "no_changes_needed" => Some(ReportStatus::CompletedNoChanges),
        "blocked"
        | "failed"
        | "failure"
        | "error"
        | "stuck"
        | "incomplete"
        | "partial"
        | "partially_completed"
        | "needs_input"
        | "cannot_complete"
        | "aborted" => Some(ReportStatus::Blocked),
        _ => None,
    }
}

fn normal(text: &str) -> String {
    shortened(text.trim(), 64).to_lowercase().replace(['-', ' '], "_")
}

/// A list of texts, one text, or a list of objects that have the text under one of these names.
fn texts(value: Option<&Value>, names: &[&str]) -> Vec<String> {
    let text = |value: &Value| {
        let text = value.as_str().or_else(|| first(value.as_object()?, names)?.as_str())?.trim();
        (!text.is_empty()).then(|| shortened(text, LONGEST_ITEM).into_owned())
    };
    match value {
        Some(Value::Array(items)) => items.iter().filter_map(text).take(MAX_ITEMS).collect(),
        Some(one) => text(one).into_iter().collect(),
        None => Vec::new(),
    }
}

/// A list whose entries are whole tasks: none is cut or left out, and what is not text is passed on as it was written.
/// The searched text bounds its length.
fn entries(value: &Value) -> Vec<String> {
    let entry = |value: &Value| match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Object(object) if object.len() == 1 => {
            let text = first(object, ENTRY).and_then(Value::as_str);
            text.map_or_else(|| value.to_string(), |text| text.trim().to_owned())
        }
        other => other.to_string(),
    };
    let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    list.iter().filter(|value| !value.is_null()).map(entry).filter(|entry| !entry.is_empty()).collect()
}

/// A list of tests, one test, or an object from names to outcomes.
fn tests(value: Option<&Value>) -> Vec<TestLine> {
    match value {
        Some(Value::Array(items)) => items.iter().filter_map(test).take(MAX_ITEMS).collect(),
        Some(Value::Object(object)) if test(&Value::Object(object.clone())).is_none() => {
            object.iter().take(MAX_ITEMS).map(|(name, value)| line(name, Some(value), "")).collect()
        }
        Some(one) => test(one).into_iter().collect(),
        None => Vec::new(),
    }
}

fn test(value: &Value) -> Option<TestLine> {
    if let Some(name) = value.as_str() {
        return Some(line(name, None, ""));
    }
    let object = value.as_object()?;
    let name = first(object, &["name", "command", "test"])?.as_str()?;
    let outcome = first(object, &["outcome", "passed", "status", "result", "success"]);
    let detail = first(object, &["detail", "details", "output", "message"]).and_then(Value::as_str);
    Some(line(name, outcome, detail.unwrap_or_default()))
}

fn line(name: &str, outcome: Option<&Value>, detail: &str) -> TestLine {
    let short = |text: &str| shortened(text.trim(), LONGEST_ITEM).into_owned();
    TestLine { name: short(name), outcome: test_outcome(outcome), detail: short(detail) }
}

fn test_outcome(value: Option<&Value>) -> TestOutcome {
    let word = match value {
        Some(Value::Bool(true)) => return TestOutcome::Passed,
        Some(Value::Bool(false)) => return TestOutcome::Failed,
        Some(Value::String(text)) => normal(text),
        _ => return TestOutcome::Unknown,
    };
    match word.as_str() {
        "passed" | "pass" | "ok" | "success" | "succeeded" | "green" => TestOutcome::Passed,
        "failed" | "fail" | "failure" | "error" | "red" => TestOutcome::Failed,
        "skipped" | "skip" | "ignored" | "not_run" => TestOutcome::Skipped,
        _ => TestOutcome::Unknown,
    }
}
