//! What cannot be set up before a person changes something is tried once.

use fleet_testkit::repo::Repo;
use serde_json::Value;

use super::Stage;

/// Runs a task with retries to its end.
fn ended(stage: &Stage, options: &[&str]) -> Value {
    let arguments = ["task", "add", "-q", "Write", "--retries", "2"];
    let task = stage.fleet.ok(&[arguments.as_slice(), options].concat());
    stage.fleet.run(&["run", "--until-idle"]);
    stage.fleet.json(&["task", "show", task.trim_end()])
}

#[test]
fn a_base_that_does_not_exist_is_not_retried() {
    let stage = Stage::quiet();
    // Whether it exists is seen at the start, because the task before may create it.
    let first = stage.fleet.ok(&["task", "add", "-q", "First", "-d", "```demo\nwrite a.txt x\n```"]);
    let task = ended(&stage, &["--after", first.trim_end(), "--base", "nosuch"]);
    let found = (&task["state"], &task["reason"], &task["attempts"]);
    assert_eq!(found, (&"failed".into(), &"workspace_refused".into(), &1.into()), "{task}");
    let why = stage.fleet.ok(&["why", task["id"].as_str().unwrap()]);
    assert!(why.contains("there is no commit \"nosuch\"") && why.contains("--base REF"), "{why}");
}

#[test]
fn a_submodule_that_is_refused_is_not_retried() {
    let (stage, inner) = (Stage::quiet(), Repo::init());
    let path = inner.path().to_str().unwrap();
    stage.repo.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", path, "inner"]);
    stage.repo.commit("with a submodule");
    let task = ended(&stage, &[]);
    let found = (&task["state"], &task["reason"], &task["attempts"]);
    assert_eq!(found, (&"failed".into(), &"workspace_refused".into(), &1.into()), "{task}");
    assert!(task["remark"].as_str().unwrap().contains("submodule"), "{task}");
}
