use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;

fn minimal(summary: &str) -> String {
    format!(r#"{{"summary": "{summary}", "status": "completed"}}"#)
}

fn found(text: &str) -> Report {
    Report::find(text).unwrap_or_else(|| panic!("no report in {text}"))
}

#[test]
fn a_full_report_survives_as_it_is() {
    let report = Report {
        summary: "Fixed the \"login\" test – 漢字\nand more".to_owned(),
        status: ReportStatus::Completed,
        files_changed: vec!["src/a.rs".to_owned(), "b {odd}.md".to_owned()],
        commits: vec!["abc123".to_owned()],
        tests: vec![TestLine {
            name: "cargo test".to_owned(),
            outcome: TestOutcome::Passed,
            detail: "3".to_owned(),
        }],
        next_steps: vec!["Nothing".to_owned()],
        verdict: Some(Verdict {
            approve: Some(false),
            winner: Some("b".to_owned()),
            scores: [("a".to_owned(), Points::from(7.25)), ("b".to_owned(), Points::from(9.0))].into(),
        }),
        items: Some(vec!["one".to_owned(), "two".to_owned()]),
    };
    let plain = serde_json::to_string(&report).unwrap();
    let pretty = serde_json::to_string_pretty(&report).unwrap();
    assert_eq!(found(&plain), report);
    assert_eq!(found(&format!("All done.\n\n```json\n{pretty}\n```\nThat is {{all}}.")), report);
    assert_eq!(serde_json::from_str::<Report>(&plain).unwrap(), report);
}

#[test]
fn the_last_report_wins_and_examples_inside_of_strings_do_not_count() {
    let text = format!("```json\n{}\n```\nNo:\n```\n{}\n```", minimal("first"), minimal("second"));
    assert_eq!(found(&text).summary, "second");
    let quoting = r#"{"summary": "wrote {\"summary\": \"x\", \"status\": \"blocked\"}", "status": "done"}"#;
    assert_eq!(found(quoting).status, ReportStatus::Completed);
    let nested =
        r#"{"summary":"outer","status":"done","tests":[{"name":"t","summary":"in","status":"failed"}]}"#;
    assert_eq!(found(nested).summary, "outer");
    assert_eq!(found(&format!(r#"{{"result": {}, "cost": 1.5e3}}"#, minimal("wrapped"))).summary, "wrapped");
}

#[test]
fn stray_braces_and_quotes_around_it_do_no_harm() {
    for prose in [
        "fn main() { println!(\"{}\", 5); } ",
        "a 5\" disk { \"unfinished: ",
        "{{{{ {\"a\": {\"b\" ",
        "use {\"key\" and ",
        "[1, 2, {",
    ] {
        let text = format!("{prose}\n{}\n}} \" and more {{", minimal("here"));
        assert_eq!(found(&text).summary, "here", "{prose}");
    }
}

#[test]
fn what_models_get_wrong_is_forgiven() {
    let text = "{\"summary\": \"two\nlines, C:\\dir, \\u00e9\\ud83d\\ude00\\ud800.\", \"status\": \"Completed\",
        \"files_changed\": [\"a\", {\"path\": \"b\"}, 7, \"\",], \"commits\": \"abc\", \"tests\": {\"unit\": True},
        \"next_steps\": {\"odd\": None}, \"unknown\": [[], {}, -1.5e-3,], }";
    let report = found(text);
    assert_eq!(report.summary, "two\nlines, C:\\dir, é😀\u{fffd}.");
    assert_eq!(report.files_changed, ["a", "b"]);
    assert_eq!(report.commits, ["abc"]);
    assert_eq!((report.tests[0].name.as_str(), report.tests[0].outcome), ("unit", TestOutcome::Passed));
    assert_eq!(report.next_steps, [] as [&str; 0]);
}

#[test]
fn words_for_a_status() {
    for (word, status) in [
        ("DONE", ReportStatus::Completed),
        ("no-changes", ReportStatus::CompletedNoChanges),
        ("Completed no changes", ReportStatus::CompletedNoChanges),
        ("needs_input", ReportStatus::Blocked),
        ("partially completed", ReportStatus::Blocked),
    ] {
        assert_eq!(found(&format!(r#"{{"status": "{word}", "summary": "s"}}"#)).status, status, "{word}");
    }
    let without = r#"{"summary": "s", "files_changed": ["a"], "status": "who knows"}"#;
    assert_eq!(found(without).status, ReportStatus::Completed);
}

#[test]
fn words_for_tests() {
    let text = r#"{"summary": "s", "status": "ok", "tests": ["a", {"command": "b", "passed": false},
        {"name": "c", "status": "Skipped", "output": "why"}, {"no": "name"}, 3]}"#;
    let lines: Vec<_> =
        found(text).tests.into_iter().map(|test| (test.name, test.outcome.as_str(), test.detail)).collect();
    let expected = [("a", "unknown", ""), ("b", "failed", ""), ("c", "skipped", "why")];
    assert_eq!(lines, expected.map(|(name, outcome, detail)| (name.to_owned(), outcome, detail.to_owned())));
}

#[test]
fn not_everything_is_a_report() {
    for text in [
        "",
        "done",
        "{}",
        r#"{"status": "failed"}"#,
        r#"{"summary": "only"}"#,
        r#"{"summary": "", "status": "done"}"#,
        r#"{"summary": 3, "status": "done"}"#,
        r#"{"summary": "cut off", "status": "do"#,
        r#"[{"name": "x", "status": "passed"}]"#,
    ] {
        assert_eq!(Report::find(text), None, "{text}");
    }
}

#[test]
fn sizes_are_bounded() {
    let mut files = String::new();
    for number in 0..2_000 {
        write!(files, "\"{number}\",").unwrap();
    }
    let long = "ä".repeat(20_000);
    let text =
        format!(r#"{{"summary": "{long}", "status": "done", "files": [{files}], "commits": ["{long}"]}}"#);
    let report = found(&text);
    assert!(report.summary.len() <= LONGEST_SUMMARY && report.summary.ends_with('…'));
    assert_eq!(report.files_changed.len(), MAX_ITEMS);
    assert!(report.commits[0].len() <= LONGEST_ITEM);
    let mut raw = report.clone();
    raw.summary = long.clone();
    raw.commits = vec![long];
    assert_eq!(raw.bounded(), report);
    let far = format!("{}{}", minimal("far away"), " ".repeat(SEARCHED_TAIL));
    assert_eq!(Report::find(&far), None);
}

/// Each would hold up the whole suite if an attempt could read to the end from every brace.
#[test]
fn hostile_texts_take_no_time() {
    for unit in ["{", "{\"a\":", "{\"a\":{\"b\":\"", "[{\"", "{\"\\u", "{\"a\":[1,", "{\"a\":1,", "{ "] {
        let text = unit.repeat(4_000_000 / unit.len());
        assert_eq!(Report::find(&text), None, "{unit}");
    }
}

#[test]
fn the_schema_asks_for_what_a_report_is_made_of() {
    let schema: serde_json::Value = serde_json::from_str(Report::SCHEMA).unwrap();
    let report = serde_json::to_value(Report::new(ReportStatus::Completed, "done")).unwrap();
    let names = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&schema["properties"]), names(&report));
    let required: Vec<&str> =
        schema["required"].as_array().unwrap().iter().filter_map(serde_json::Value::as_str).collect();
    assert_eq!(required.len(), names(&report).len());
    let statuses = schema["properties"]["status"]["enum"].as_array().unwrap();
    assert!(statuses.iter().all(|status| serde_json::from_value::<ReportStatus>(status.clone()).is_ok()));
}

proptest! {
    #[test]
    fn no_text_makes_it_fall(text in r#"([{}\[\]",:\\u0-9a-f \n]|summary|status|"summary": "s"|"status": "done"|é|😀){0,60}"#) {
        if let Some(report) = Report::find(&text) {
            prop_assert!(!report.summary.is_empty());
        }
    }

    #[test]
    fn whatever_stands_around_it_it_is_found(before in r"[a-z{}\n`]{0,40}", summary in r#"[^"\\]{1,40}"#, after in r"[^{]{0,40}") {
        prop_assume!(!summary.trim().is_empty());
        let json = serde_json::to_string(&Report::new(ReportStatus::Blocked, summary.trim())).unwrap();
        let found = Report::find(&format!("{before}\n{json}{after}"));
        prop_assert_eq!(found, Some(Report::new(ReportStatus::Blocked, summary.trim())));
    }
}

#[test]
fn a_verdict_is_found_however_it_is_written() {
    let verdict = |text: &str| found(text).verdict;
    let beside =
        verdict(r#"{"summary": "s", "status": "done", "approved": "changes requested", "winner": " b "}"#);
    assert_eq!(
        beside,
        Some(Verdict { approve: Some(false), winner: Some("b".to_owned()), ..Default::default() })
    );
    let listed = verdict(
        r#"{"summary": "s", "status": "done", "verdict": {"scores": [{"name": "a", "score": 7.5}, {"name": 1}]}}"#,
    );
    assert_eq!(listed.unwrap().scores, [("a".to_owned(), Points::from(7.5))].into());
    let empty = verdict(
        r#"{"summary": "s", "status": "done", "verdict": {"approve": null, "winner": null, "scores": []}}"#,
    );
    assert_eq!(empty, None);
    let items = |text: &str| found(text).items;
    assert_eq!(
        items(r#"{"summary": "s", "items": [{"title": "x"}, "y", 3]}"#),
        Some(vec!["x".to_owned(), "y".to_owned(), "3".to_owned()])
    );
    let task = r#"{"description":"All of it","title":"x"}"#;
    assert_eq!(
        items(&format!(r#"{{"summary": "s", "items": [{task}, null, " "]}}"#)),
        Some(vec![task.to_owned()])
    );
    let entries: Vec<String> = (0..600).map(|number| format!("{number} {}", "long ".repeat(80))).collect();
    let long = "l".repeat(3 * LONGEST_ITEM);
    for whole in [entries.iter().map(|entry| entry.trim().to_owned()).collect(), vec![long]] {
        let text = serde_json::json!({"summary": "s", "items": whole}).to_string();
        assert_eq!(items(&text), Some(whole), "each entry is a task: none is cut or left out");
    }
    assert_eq!(items(r#"{"summary": "s", "items": []}"#), Some(Vec::new()), "an empty list is an answer");
    assert_eq!(items(r#"{"summary": "s", "status": "done", "items": null}"#), None);
}

#[test]
fn every_schema_is_strict() {
    use crate::workflow::Returns;
    for returns in Returns::ALL {
        let schema: serde_json::Value = serde_json::from_str(Report::schema(*returns)).unwrap();
        strict(&schema);
    }
    assert_eq!(Report::schema(Returns::Report), Report::SCHEMA);
}

/// Every object lists all of its properties as required and allows no others.
fn strict(schema: &serde_json::Value) {
    if let Some(properties) = schema["properties"].as_object() {
        let names: Vec<&str> = properties.keys().map(String::as_str).collect();
        let mut required: Vec<&str> =
            schema["required"].as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
        required.sort_unstable();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, required);
        assert_eq!(schema["additionalProperties"], false);
        properties.values().for_each(strict);
    }
    if schema["items"].is_object() {
        strict(&schema["items"]);
    }
}
