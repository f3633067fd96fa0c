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
    assert_eq!(about(&well, "leftovers"), (true, "none".to_owned()));
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
    assert!(about(&usual, "agents").1.contains("the default agent far cannot be started here"), "{usual}");
    assert!(usual.to_string().contains("the variable FLEET_AGENT sets it"), "{usual}");
    assert_eq!(usual["healthy"], true, "others work");
}

#[test]
fn the_usual_agent_is_chosen_where_it_is_set() {
    let yard = Yard::new();
    let own = yard.fleet.home().join("config.toml");
    let far = "agents.far.program = '/no/such/program'\n";
    fs::write(&own, format!("agent = 'far'\n{far}")).unwrap();
    let found = yard.fleet.json(&["doctor"]).to_string();
    assert!(found.contains("): `fleet config set agent NAME`\""), "{found}");
    fs::write(&own, format!("agent = 'demo'\n{far}")).unwrap();
    fs::create_dir_all(yard.repo.path().join(".fleet")).unwrap();
    fs::write(yard.repo.path().join(".fleet/config.toml"), "agent = 'far'\n").unwrap();
    let found = yard.fleet.json(&["doctor"]).to_string();
    assert!(found.contains(".fleet/config.toml:1): `fleet config set agent NAME --in-project`"), "{found}");
}

#[test]
fn tasks_whose_time_will_come_need_a_runner_too() {
    let yard = Yard::new();
    let add = ["task", "add", "-q", "Later", "--agent", "demo", "--not-before", "1h"];
    let later = yard.fleet.ok(&add).trim_end().to_owned();
    for look in [["list"], ["status"]] {
        let said = yard.fleet.run(&look).stderr;
        assert!(said.contains("1 task is scheduled and no runner is up here"), "{look:?} said {said:?}");
    }
    let said = about(&yard.fleet.json(&["doctor"]), "runner");
    assert_eq!(said, (false, "tasks are scheduled, and no runner is up".to_owned()));
    let why = yard.fleet.json(&["why", &later]);
    assert!(why["next"].as_str().unwrap().starts_with("nothing while no runner is up here"), "{why}");
    assert!(why["next_at"].is_string(), "{why}");
}

#[test]
fn tasks_of_a_repository_that_is_gone_are_no_work_for_a_runner() {
    let mut yard = Yard::new();
    let task = yard.add("one", "write a x");
    let (git, path) = (yard.repo.path().join(".git"), yard.repo.path().canonicalize().unwrap());
    fs::rename(&git, yard.repo.path().join("moved.git")).unwrap();
    let status = yard.fleet.run(&["status"]);
    assert!(!status.stderr.contains("ready"), "{status:?}");
    assert!(status.stdout.contains(&format!("agents cannot work in {}", path.display())), "{status:?}");
    let found = yard.fleet.json(&["doctor"]);
    assert_eq!(about(&found, "runner"), (true, "none is up, and none is needed".to_owned()));
    let (good, said) = about(&found, "repositories");
    let gone = format!("{} is no longer a git repository", path.display());
    assert!(!good && said.contains(&gone), "{said}");
    yard.start_runner();
    wait_until(SOON, "a runner", || yard.fleet.json(&["status"])["runners"] != Value::Array(vec![]));
    let why = yard.fleet.json(&["why", &task]);
    assert!(why["next"].as_str().unwrap().contains(&gone), "{why}");
    assert!(why["advice"].to_string().contains("move it back to"), "{why}");
    assert!(!why.to_string().contains("--project DIR"), "{why}");
}

#[test]
fn a_runner_that_was_started_just_now_is_not_said_to_be_missing() {
    let mut yard = Yard::new();
    yard.fleet = yard.fleet.env("FLEET_AUTOSTART", "true");
    let started = yard.fleet.json(&["start"]);
    let quiet = yard.fleet.env("FLEET_AUTOSTART", "false");
    quiet.ok(&["task", "add", "-q", "Later", "--agent", "demo", "--not-before", "1h"]);
    let pid = i32::try_from(started["runner"]["pid"].as_i64().unwrap()).unwrap();
    signal(pid, "-KILL");
    wait_until(SOON, "its end", || quiet.json(&["status"])["runners"] == Value::Array(vec![]));
    let said = yard.fleet.run(&["status"]);
    yard.fleet.ok(&["stop"]);
    assert!(said.stderr.contains("1 task is scheduled and no runner was up: started one"), "{said:?}");
    assert!(!said.stdout.contains("no runner is up"), "{said:?}");
}

#[test]
fn a_damaged_vault_is_found() {
    let yard = Yard::new();
    yard.add("one", "write a x");
    yard.finish_all();
    assert_eq!(about(&yard.fleet.json(&["doctor"]), "snapshots"), (true, "1 vault, no damage".to_owned()));
    let vault = yard.fleet.home().join("vaults").join(&yard.names("vaults")[0]);
    let damage = |name: &str, content: Option<&[u8]>| {
        let file = vault.join(name);
        let before = fs::read(&file).unwrap_or_default();
        match content {
            Some(content) => fs::write(&file, content).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        let found = yard.fleet.fail(7, &["doctor", "--json"]).stdout;
        let (good, said) = about(&serde_json::from_str(&found).unwrap(), "snapshots");
        assert!(!good && said.contains("is damaged"), "{name}: {said}");
        if before.is_empty() { fs::remove_file(&file).unwrap() } else { fs::write(&file, before).unwrap() }
    };
    damage("HEAD", None);
    damage("refs/fleet/snapshots/bad", Some(b"nonsense\n"));
    damage("objects/pack/pack-1.idx", Some(b"no index\n"));
    assert!(about(&yard.fleet.json(&["doctor"]), "snapshots").0);
}
