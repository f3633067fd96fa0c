//! Fields of a task that change how it is run or found: read-only, mode, batch, branch.

use fleet_core::id::{BatchId, IdMaker};
use fleet_core::time::Millis;
use serde_json::{Value, json};

use super::support::{World, error};

fn titles(list: &Value) -> Vec<&str> {
    list["tasks"].as_array().unwrap().iter().map(|task| task["title"].as_str().unwrap()).collect()
}

#[test]
fn a_task_that_only_looks_is_marked_as_such() {
    let world = World::sqlite();
    let task = world.fleet.json(&["task", "add", "Review", "--read-only"]);
    assert_eq!(task["read_only"], true);
    let id = task["id"].as_str().unwrap();
    assert!(world.fleet.ok(&["task", "show", id]).contains("read-only   yes"));
    let edited = world.fleet.json(&["task", "edit", id, "--clear", "read-only"]);
    assert_eq!((&edited["read_only"], &edited["changed"]), (&json!(false), &json!(["read_only"])));
    let edited = world.fleet.json(&["task", "edit", id, "--read-only"]);
    assert_eq!((&edited["read_only"], &edited["changed"]), (&json!(true), &json!(["read_only"])));
    let lines = world.fleet.ok(&["task", "export"]);
    let copied = world.fleet.stdin(lines).json(&["task", "import", "-", "--new-ids"]);
    let copy = world.fleet.json(&["task", "show", copied["ids"][0].as_str().unwrap()]);
    assert_eq!(copy["read_only"], true);
}

#[test]
fn a_task_says_whether_its_agent_runs_in_a_terminal() {
    let world = World::sqlite();
    let task = world.fleet.json(&["task", "add", "Talk", "--interactive"]);
    assert_eq!(task["mode"], "interactive");
    let id = task["id"].as_str().unwrap();
    assert!(world.fleet.ok(&["task", "show", id]).contains("mode        interactive"));
    let edited = world.fleet.json(&["task", "edit", id, "--headless"]);
    assert_eq!((&edited["mode"], &edited["changed"]), (&json!("headless"), &json!(["mode"])));
    let both = world.fleet.fail(2, &["task", "edit", id, "--headless", "--interactive", "--json"]);
    assert_eq!(error(&both).0, "usage");
    world.fleet.ok(&["task", "edit", id, "--interactive"]);
    let lines = world.fleet.ok(&["task", "export"]);
    let copied = world.fleet.stdin(lines).json(&["task", "import", "-", "--new-ids"]);
    let copy = world.fleet.json(&["task", "show", copied["ids"][0].as_str().unwrap()]);
    assert_eq!(copy["mode"], "interactive");
    world.fleet.ok(&["config", "set", "launch.mode", "interactive"]);
    assert_eq!(world.fleet.json(&["task", "add", "Work"])["mode"], "headless", "it was not launched");
    let launch = ["create", "--detach", "--agent", "demo", "-p", "x"];
    let launched = |more: &[&str]| {
        let answer = world.fleet.json(&[launch.as_slice(), more].concat());
        answer["tasks"][0]["mode"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        (launched(&["one"]), launched(&["two", "--headless"])),
        ("interactive".into(), "headless".into())
    );
}

#[test]
fn the_tasks_of_a_batch_are_found_from_anywhere() {
    let world = World::sqlite();
    let batch = IdMaker::default().next::<BatchId>(Millis(1_800_000_000_000), 1);
    let batch = batch.as_str();
    let line = |title: &str| json!({ "title": title, "batch": batch, "labels": ["x"] }).to_string();
    let other = json!({ "title": "Alone" }).to_string();
    let lines = [line("One"), line("Two"), other].join("\n");
    world.fleet.stdin(lines.as_str()).ok(&["task", "import", "-"]);
    let mistyped = lines.replace(batch, &batch.replace('s', "t"));
    let said = world.fleet.stdin(mistyped).fail(2, &["task", "import", "-", "--json"]);
    assert_eq!(error(&said).0, "import-invalid");
    let outside = tempfile::tempdir().unwrap();
    let outside = world.fleet.cwd(outside.path());
    let list = outside.json(&["task", "list", "--batch", batch]);
    assert_eq!(titles(&list), ["One", "Two"]);
    assert_eq!(list["tasks"][0]["batch"], batch);
    assert_eq!(
        titles(&outside.json(&["task", "list", "--batch", batch, "--label", "x", "-n", "1"])),
        ["One"]
    );
    assert_eq!(titles(&world.fleet.json(&["task", "list"])).len(), 3);
    let id = list["tasks"][0]["id"].as_str().unwrap();
    let edited = world.fleet.json(&["task", "edit", id, "--clear", "batch"]);
    assert_eq!(edited["batch"], Value::Null);
    assert_eq!(titles(&outside.json(&["task", "list", "--batch", batch])), ["Two"]);
}

#[test]
fn a_branch_that_another_task_has_is_refused_with_a_way_out() {
    let world = World::sqlite();
    let first = world.fleet.json(&["task", "add", "First", "--branch", "feature/login"]);
    let first = first["id"].as_str().unwrap();
    let second = ["task", "add", "Second", "--branch", "feature/login"];
    let (code, message, hints) = error(&world.fleet.fail(4, &[&second[..], &["--json"]].concat()));
    assert_eq!(code, "branch-taken");
    assert_eq!(message, format!("branch feature/login belongs to task {first}, which has not finished"));
    assert!(hints.contains(&format!("fleet task cancel {first}")), "{hints}");
    world.fleet.ok(&["task", "cancel", first]);
    world.fleet.ok(&second);
    assert_eq!(error(&world.fleet.fail(4, &["task", "retry", first, "--json"])).0, "branch-taken");
}

#[test]
fn the_full_name_of_a_ref_is_not_taken_for_a_branch() {
    let world = World::sqlite();
    let name = "refs/heads/login";
    let task = world.fleet.json(&["task", "add", "First", "--branch", "login"]);
    let id = task["id"].as_str().unwrap();
    let line = json!({ "title": "One", "branch": name }).to_string();
    for arguments in [
        &["task", "add", "Second", "--branch", name][..],
        &["create", name, "--agent", "demo", "-p", "x"],
        &["task", "edit", id, "--branch", name],
        &["task", "import", "-"],
    ] {
        let output = world.fleet.stdin(line.as_str()).run(&[arguments, &["--json"]].concat());
        assert_eq!(output.code, 2, "{arguments:?}: {}", output.stderr);
        let (_, message, _) = error(&output);
        assert!(message.ends_with("leave out \"refs/heads/\""), "{arguments:?}: {message}");
    }
}
