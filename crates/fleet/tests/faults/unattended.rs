//! A queue that nobody looks after, because its runner was killed.

use std::fs;

use fleet_testkit::wait_until;
use serde_json::Value;

use super::processes::{kill, of_home};
use super::stage::{BOUND, Stage};

const QUICK: &str = "say Done.\nwrite quick.txt x";

/// A stage on which runners in the background may be started.
fn stage() -> Stage {
    let mut stage = Stage::new();
    stage.fleet = stage.fleet.env("FLEET_AUTOSTART", "true").env("FLEET_RUNNER_SLOTS", "1");
    stage
}

fn runner_pid(stage: &Stage) -> Option<i32> {
    let said: Value =
        serde_json::from_slice(&fs::read(stage.home().join("runners/background")).ok()?).ok()?;
    i32::try_from(said["process"]["pid"].as_i64()?).ok()
}

#[test]
fn a_runner_that_was_killed_is_replaced_at_once() {
    let stage = stage();
    let mut before = 0;
    for round in 0..8 {
        let started = stage.fleet.json(&["start"]);
        assert_eq!(started["started"], true, "round {round}: {started}");
        let pid = i32::try_from(started["runner"]["pid"].as_i64().unwrap()).unwrap();
        assert_ne!(pid, before);
        assert_eq!(runner_pid(&stage), Some(pid), "it holds the lock when the command answers");
        kill(pid);
        before = pid;
    }
    // Whoever queues work does not wait, and gets a runner all the same.
    let task = stage.add(QUICK);
    stage.wait_status(&task, "done");
    stage.fleet.ok(&["stop"]);
}

#[test]
fn whoever_looks_starts_the_runner_that_is_missing() {
    let stage = stage();
    let quiet = stage.fleet.env("FLEET_AUTOSTART", "false");
    stage.fleet.ok(&["start"]);
    kill(runner_pid(&stage).unwrap());
    let added =
        quiet.json(&["task", "add", "Quick", "--agent", "demo", "-d", &format!("```demo\n{QUICK}\n```")]);
    let task = added["id"].as_str().unwrap().to_owned();
    wait_until(BOUND, "the runner is gone", || quiet.json(&["status"])["runners"] == Value::Array(vec![]));
    for look in [["list"], ["status"]] {
        let said = quiet.run(&look).stderr;
        assert!(said.contains("1 task is ready and no runner is up here"), "{look:?} said {said:?}");
    }
    let said = stage.fleet.run(&["task", "list"]).stderr;
    assert!(said.contains("started one in the background"), "{said}");
    stage.wait_status(&task, "done");
    stage.fleet.ok(&["stop"]);
}

/// Nobody looks: the keeper that ends last sees that work is left.
#[test]
fn a_keeper_at_its_end_starts_the_runner_that_is_missing() {
    let stage = stage();
    let first = stage.add(&stage.steps());
    stage.wait_for("written");
    let second = stage.add(QUICK);
    kill(runner_pid(&stage).unwrap());
    stage.give("go");
    let quiet = stage.fleet.env("FLEET_AUTOSTART", "false");
    let is_done = |task: &str| quiet.json(&["task", "show", task])["state"] == "done";
    wait_until(BOUND, "both are done", || is_done(&first) && is_done(&second));
    stage.fleet.ok(&["stop"]);
}

/// A task that is tried again later, or is to start then, would wait for ever.
#[test]
fn a_keeper_at_its_end_starts_a_runner_for_what_is_scheduled() {
    let stage = stage();
    stage.add(&stage.steps());
    stage.wait_for("written");
    stage.fleet.ok(&["task", "add", "Later", "--agent", "demo", "--not-before", "1h"]);
    let killed = runner_pid(&stage).unwrap();
    kill(killed);
    stage.give("go");
    wait_until(BOUND, "another runner", || runner_pid(&stage).is_some_and(|pid| pid != killed));
    stage.fleet.ok(&["stop"]);
}

/// A runner that was stopped is not missed by anybody.
#[test]
fn whoever_stopped_the_runner_is_not_overruled() {
    let stage = stage();
    let first = stage.add(&stage.steps());
    stage.wait_for("written");
    stage.add(QUICK);
    stage.fleet.ok(&["stop"]);
    stage.give("go");
    stage.wait_status(&first, "done");
    assert!(stage.fleet.run(&["list"]).stderr.contains("`fleet start` starts one"));
    wait_until(BOUND, "everybody has ended", || of_home(stage.home()).is_empty());
    assert_eq!(stage.fleet.json(&["status"])["runners"], Value::Array(vec![]));
}
