//! Killed when the checks of a stage have been run and nobody knows yet what came of them.

use std::fs;
use std::thread;

use fleet_testkit::wait_until;
use serde_json::{Value, json};

use super::evidence::assert_in_turn;
use super::matrix::{NO_AGENT, Victims};
use super::processes::kill;
use super::stage::{BOUND, Stage};

const POINT: &str = "keeper-checked";

/// A stage whose check counts how often it is run and ends with `status`, and one that needs it.
fn start(stage: &Stage, status: i32) -> String {
    let check = format!("echo run >> '{}'; exit {status}", stage.sign("checks").display());
    let one = |more: &Value, steps: &str| {
        let mut one =
            json!({"agent": "demo", "retries": 1, "prompt": format!("Do it.\n\n```demo\n{steps}\n```")});
        one.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        one
    };
    let write = one(&json!({"checks": [["sh", "-c", check]]}), "write a.txt x\nsay Well done.");
    let after = one(&json!({"needs": ["write"], "start": "inherit"}), "write b.txt x");
    let file = stage.sign("checked.json");
    let text = json!({"name": "checked", "task": "Do it", "stages": {"write": write, "after": after}});
    fs::write(&file, text.to_string()).unwrap();
    let started = stage.fleet.json(&["workflow", "run", file.to_str().unwrap(), "--detach"]);
    started["id"].as_str().unwrap().to_owned()
}

/// Kills them there, and returns the workflow as it ended.
fn play(stage: &Stage, status: i32, victims: Victims) -> Value {
    let id = start(stage, status);
    let mut runner = stage.run(Some(POINT));
    let held = stage.wait_held(POINT);
    if victims.runner {
        runner.kill();
    }
    if victims.keeper {
        kill(held);
    }
    let runner = if victims.runner { stage.next_runner() } else { runner };
    stage.let_go(POINT);
    let mut shown = Value::Null;
    wait_until(BOUND, "the workflow is over", || {
        stage.hasten();
        shown = stage.fleet.json(&["workflow", "show", &id]);
        shown["state"] != "running"
    });
    stage.assert_tidy([runner]);
    shown
}

/// The two stages: how they stand, how often they were tried, and how often they were done.
fn told(stage: &Stage, workflow: &Value) -> Vec<(String, i64, usize)> {
    let events = stage.events();
    let one = |one: &Value| {
        let done = one["task"].as_str().map_or(0, |task| assert_in_turn(&events, task));
        (one["state"].as_str().unwrap().to_owned(), one["attempts"].as_i64().unwrap_or(0), done)
    };
    workflow["stages"].as_array().unwrap().iter().map(one).collect()
}

fn checks_run(stage: &Stage) -> usize {
    fs::read_to_string(stage.sign("checks")).unwrap().lines().count()
}

/// All of them side by side: they mostly wait.
fn cells(cell: impl Fn(Victims) + Sync) {
    thread::scope(|scope| {
        for victims in NO_AGENT {
            let name = format!("{POINT} {victims:?}");
            thread::Builder::new().name(name).spawn_scoped(scope, || cell(*victims)).unwrap();
        }
    });
}

#[test]
fn what_was_checked_by_a_keeper_that_is_gone_is_checked_again() {
    cells(|victims| {
        let stage = Stage::new();
        let workflow = play(&stage, 0, victims);
        assert_eq!(workflow["state"], "succeeded", "{workflow:#}");
        let attempts = if victims.keeper { 2 } else { 1 };
        let told = told(&stage, &workflow);
        assert_eq!(told, [("done".to_owned(), attempts, 1), ("done".to_owned(), 1, 1)], "{workflow:#}");
        assert_eq!(checks_run(&stage), usize::try_from(attempts).unwrap(), "once for each attempt");
        let branch = workflow["stages"][1]["branch"].as_str().unwrap();
        assert_eq!(stage.content(branch, "a.txt").as_deref(), Some("x"));
    });
}

#[test]
fn what_failed_its_checks_is_not_done_whoever_is_killed() {
    cells(|victims| {
        let stage = Stage::new();
        let workflow = play(&stage, 1, victims);
        assert_eq!(workflow["state"], "failed", "{workflow:#}");
        // A keeper that is gone is a failure of another kind, with its own retry.
        let attempts = if victims.keeper { 3 } else { 2 };
        let told = told(&stage, &workflow);
        assert_eq!(told, [("failed".to_owned(), attempts, 0), ("skipped".to_owned(), 0, 0)], "{workflow:#}");
        assert_eq!(checks_run(&stage), usize::try_from(attempts).unwrap(), "once for each attempt");
        let task = workflow["stages"][0]["task"].as_str().unwrap();
        assert_eq!(stage.fleet.json(&["why", task])["reason"], "checks_failed");
    });
}
