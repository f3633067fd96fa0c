//! What `docs/json.md` says, and whether an answer is as it says.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub(super) const PAGE: &str = include_str!("../../../../../docs/json.md");

/// The part of the page under a heading.
pub(super) fn section(title: &str) -> &'static str {
    PAGE.split("\n## ").find(|section| section.starts_with(title)).unwrap()
}

/// The fields of the n-th table of a section, with their types.
pub(super) fn table_of(title: &str, number: usize) -> BTreeMap<String, String> {
    let table = section(title).split("| field | type | meaning |").nth(number + 1).unwrap();
    let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
    let mut fields = BTreeMap::new();
    for row in rows.filter_map(|line| line.strip_prefix("| `")) {
        let mut cells = row.split(" | ");
        let (names, kind) = (cells.next().unwrap(), cells.next().unwrap());
        for name in names.split(", ") {
            fields.insert(name.trim_matches('`').to_owned(), kind.to_owned());
        }
    }
    assert!(fields.len() > 5, "the table was found: {fields:?}");
    fields
}

/// Fields that some answers have beside those of a table, written as `name: type; …`; the page mentions each.
#[track_caller]
pub(super) fn and_more(mut fields: BTreeMap<String, String>, more: &str) -> BTreeMap<String, String> {
    for (name, kind) in more.split("; ").filter_map(|field| field.split_once(": ")) {
        assert!(PAGE.contains(&format!("`{name}`")), "docs/json.md says nothing of {name}");
        fields.insert(name.to_owned(), kind.to_owned());
    }
    fields
}

fn is_time(text: &str) -> bool {
    text.len() == 24 && text.ends_with('Z') && &text[10..11] == "T" && &text[19..20] == "."
}

fn fits(value: &Value, kind: &str) -> bool {
    match kind.strip_suffix(" or null") {
        Some(kind) => value.is_null() || fits(value, kind),
        None => match kind {
            "string" => value.is_string(),
            "number" => value.is_i64(),
            "real" => value.is_f64(),
            "boolean" => value.is_boolean(),
            "object" => value.is_object(),
            "list" => value.is_array(),
            "time" => value.as_str().is_some_and(is_time),
            "list of strings" => value.as_array().is_some_and(|list| list.iter().all(Value::is_string)),
            other => panic!("what is a {other}?"),
        },
    }
}

/// Exactly these fields, each of its type.
#[track_caller]
pub(super) fn exactly(value: &Value, fields: &BTreeMap<String, String>) {
    let object = value.as_object().unwrap_or_else(|| panic!("an object: {value}"));
    let (is, should): (BTreeSet<_>, BTreeSet<_>) = (object.keys().collect(), fields.keys().collect());
    assert_eq!(is, should, "{value}");
    for (name, kind) in fields {
        assert!(fits(&object[name], kind), "{name} is a {kind}: {}", object[name]);
    }
}

/// Exactly these fields, written as `name: type; …`, each of which the page mentions.
#[track_caller]
pub(super) fn shape(value: &Value, fields: &str) {
    let pairs = fields.split("; ").map(|field| field.split_once(": ").unwrap());
    let fields: BTreeMap<String, String> =
        pairs.map(|(name, kind)| (name.to_owned(), kind.to_owned())).collect();
    for name in fields.keys() {
        let written = [format!("`{name}`"), format!("{name},"), format!("{name}}}"), format!("\"{name}\":")];
        assert!(written.iter().any(|text| PAGE.contains(text)), "docs/json.md says nothing of {name}");
    }
    exactly(value, &fields);
}

/// A task, with further fields in some answers.
#[track_caller]
pub(super) fn is_task(value: &Value, described: bool, more: &str) {
    let mut fields = and_more(table_of("A task", 0), more);
    if !described {
        fields.remove("description");
    }
    exactly(value, &fields);
    shape(&value["retry"], "retries: number; backoff_seconds: number; check_retries: number");
    if !value["obstacle"].is_null() {
        shape(&value["obstacle"], "chain: list of strings; state: string; needs_a_person: boolean");
    }
}

#[track_caller]
pub(super) fn are_tasks(value: &Value, described: bool) {
    for task in value.as_array().expect("a list") {
        is_task(task, described, "");
    }
}

#[track_caller]
pub(super) fn is_event(event: &Value) {
    let kind = event["kind"].as_str().unwrap();
    shape(
        event,
        "seq: number; at: time; kind: string; project: string or null; task: string or null; run: string or null; data: object",
    );
    let row =
        section("Events").lines().find(|line| line.starts_with('|') && line.contains(&format!("`{kind}`")));
    let row = row.unwrap_or_else(|| panic!("docs/json.md has no event {kind}"));
    let documented: BTreeSet<&str> =
        row.rsplit(" | ").next().unwrap().split('`').skip(1).step_by(2).collect();
    let fields: BTreeSet<&str> = event["data"].as_object().unwrap().keys().map(String::as_str).collect();
    assert!(
        fields == documented || (documented == BTreeSet::from(["{}"]) && fields.is_empty()),
        "{event}: {row}"
    );
}

/// A run, with further fields in some answers.
#[track_caller]
pub(super) fn is_run(value: &Value, more: &str) {
    exactly(value, &and_more(table_of("A run", 0), more));
}
