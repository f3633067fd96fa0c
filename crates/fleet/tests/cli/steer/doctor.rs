//! `fleet doctor` about what crashes leave, and that nothing is left after the repair.

use std::fs;
use std::process::{Command, Stdio};

use fleet_testkit::wait_until;
use serde_json::Value;

use super::{SOON, Yard, signal};

/// What was found under a name, and whether all of it is as it should be.
fn about(found: &Value, name: &str) -> (bool, String) {
    let checks = found["checks"].as_array().unwrap().iter().filter(|check| check["name"] == name);
    let all: Vec<&Value> = checks.collect();
    assert!(!all.is_empty(), "{name}: {found}");
    let text: Vec<&str> = all.iter().map(|check| check["detail"].as_str().unwrap()).collect();
    (all.iter().all(|check| check["verdict"] == "good"), text.join("; "))
}

#[test]
fn a_crash_is_found_and_its_repair_leaves_nothing() {
    let mut yard = Yard::new();
    let task = yard.add_staying("crash", "fork session double 5m\nwrite a x");
    assert_eq!(
        about(&yard.fleet.json(&["doctor"]), "runner"),
        (false, "tasks are ready, and no runner is up".to_owned())
    );
    yard.start_runner();
    yard.at_work(&["crash"]);
    let well = yard.fleet.json(&["doctor"]);
    assert!(about(&well, "leftovers").0 && about(&well, "runner").1.ends_with("is up"), "{well}");
    let run = yard.run_of(&task);
    yard.stop_runner();
    let alone = yard.fleet.json(&["doctor"]);
    assert!(about(&alone, "leftovers").0, "a keeper needs no runner: {alone}");
    signal(yard.keeper(&task), "-KILL");
    wait_until(SOON, "the end of the keeper", || !about(&yard.fleet.json(&["doctor"]), "leftovers").0);
    let crashed = yard.fleet.json(&["doctor"]);
    assert_eq!(about(&crashed, "leftovers"), (false, format!("without a keeper: {run}")));
    assert!(crashed.to_string().contains("fleet start"), "{crashed}");
    yard.finish_all();
    let mended = yard.fleet.json(&["doctor"]);
    // The home of the tests can be read by others, and the usual agent need not be here.
    let expected = |check: &Value| check["name"] == "home" || check["name"] == "agents";
    let warned = |check: &&Value| check["verdict"] != "good" && !expected(check);
    assert_eq!(mended["checks"].as_array().unwrap().iter().find(warned), None, "{mended}");
    assert_eq!(yard.file("crash", "a"), "x");
}

#[test]
fn processes_and_worktrees_of_ended_runs_are_found() {
    let yard = Yard::new();
    let task = yard.add("one", "write a x");
    yard.finish_all();
    let run = yard.run_of(&task);
    let mut stray = Command::new("sleep");
    let mut stray = stray.arg("300").env("FLEET_RUN", &run).stdin(Stdio::null()).spawn().unwrap();
    let area = yard.names("worktrees").into_iter().find(|name| name != ".trash").unwrap();
    let note = yard.fleet.home().join("worktrees").join(area).join("w1.json");
    fs::write(&note, format!("{{\"owner\":\"{run}\",\"branch\":\"one\",\"phase\":\"open\"}}")).unwrap();
    let found = yard.fleet.json(&["doctor"]);
    stray.kill().unwrap();
    stray.wait().unwrap();
    let (good, said) = about(&found, "leftovers");
    assert!(!good && said.contains(&format!("{} of {run}", stray.id())), "{said}");
    assert!(said.contains("worktrees of runs that have ended") && said.contains("/w1"), "{said}");
    fs::write(&note, "nonsense").unwrap();
    let (good, said) = about(&yard.fleet.json(&["doctor"]), "leftovers");
    assert!(!good && said.contains("damaged"), "{said}");
    fs::remove_file(&note).unwrap();
    let well = yard.fleet.json(&["doctor"]);
    assert_eq!(about(&well, "leftovers"), (true, "nothing is left of crashes".to_owned()));
    assert_eq!(about(&well, "trash"), (true, "empty".to_owned()));
    assert_eq!(well["healthy"], true);
}

#[test]
fn agents_that_cannot_be_started_are_told_with_what_to_do() {
    let mut yard = Yard::new();
    yard.fleet = yard.fleet.env("FLEET_AGENT", "demo");
    assert!(about(&yard.fleet.json(&["doctor"]), "agents").0);
    fs::write(yard.fleet.home().join("config.toml"), "agents.far.program = '/no/such/program'\n").unwrap();
    let task = yard.fleet.ok(&["task", "add", "-q", "Elsewhere", "--agent", "far"]).trim_end().to_owned();
    let found = yard.fleet.json(&["doctor"]);
    assert!(
        about(&found, "agents").1.contains("wait for agents that cannot be started here: far"),
        "{found}"
    );
    assert!(found.to_string().contains(&format!("fleet task edit {task} --agent")), "{found}");
    let usual = yard.fleet.env("FLEET_AGENT", "far").json(&["doctor"]);
    assert!(about(&usual, "agents").1.contains("are for far, which cannot be started here"), "{usual}");
    assert!(usual.to_string().contains("fleet config set agent NAME"), "{usual}");
    assert_eq!(usual["healthy"], true, "others work");
}
