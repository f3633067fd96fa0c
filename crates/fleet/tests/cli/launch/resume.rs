//! Taking up what did not come to its end.

use super::super::support::error;
use super::{Stage, id, prompt};

/// Fails at the first attempt, and leaves something for the second.
const SECOND_TIME: &str = "append a.txt line\nonce attempt.txt exit 3";

#[test]
fn a_failed_task_goes_on_with_its_work() {
    let stage = Stage::new();
    let output = stage.fleet.fail(8, &["create", "again", "-p", &prompt("Append", SECOND_TIME)]);
    let task = output.stdout.split_whitespace().next().unwrap().to_owned();
    assert_eq!(stage.file("again", "a.txt"), "line");
    let output = stage.fleet.run(&["resume", "again"]);
    assert_eq!(output.code, 0, "{output:?}");
    assert!(output.stdout.contains("done"), "{output:?}");
    assert_eq!(stage.file("again", "a.txt"), "line\nline", "on top of what was there");
    let runs = stage.fleet.json(&["task", "show", &task])["runs"].as_array().unwrap().len();
    assert_eq!(runs, 2);
    let (code, _, hints) = error(&stage.fleet.fail(4, &["resume", &task, "--json"]));
    assert_eq!(code, "illegal-transition", "it is done");
    assert!(hints.contains("fleet prompt t") && hints.contains("add a new task"), "{hints}");
}

#[test]
fn a_batch_takes_up_only_what_is_not_done() {
    let stage = Stage::new();
    let good = format!("good:{}", prompt("Write", "write a.txt x"));
    let bad = format!("bad:{}", prompt("Append", SECOND_TIME));
    let output = stage.fleet.fail(8, &["multi", &good, &bad, "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    let batch = answer["batch"].as_str().unwrap();
    let resumed = stage.fleet.json(&["resume", "--batch", batch]);
    assert_eq!(resumed["batch"], batch);
    let tasks = resumed["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 1, "{resumed}");
    assert_eq!((&tasks[0]["branch"], &tasks[0]["state"]), (&"bad".into(), &"done".into()));
    let (code, message, _) = error(&stage.fleet.fail(3, &["resume", "--batch", batch, "--json"]));
    assert_eq!(code, "nothing-matched");
    assert!(message.contains("is failed, cancelled, waiting or held"), "{message}");
}

#[test]
fn held_and_cancelled_tasks_are_taken_up_all_or_none() {
    let stage = Stage::quiet();
    let create = |branch: &str| id(&stage.fleet.json(&["create", branch, "-d", "-p", "x"])["tasks"][0]);
    let (held, cancelled, queued) = (create("a"), create("b"), create("c"));
    stage.fleet.ok(&["task", "hold", &held]);
    stage.fleet.ok(&["task", "cancel", &cancelled]);
    stage.fleet.fail(4, &["resume", "-d", &held, &queued]);
    assert_eq!(stage.state(&held), "held", "none");
    stage.fleet.ok(&["resume", "-d", &held, &cancelled, &held]);
    assert_eq!((stage.state(&held), stage.state(&cancelled)), ("queued".into(), "queued".into()));
}

#[test]
fn wrong_names_change_nothing() {
    let mut stage = Stage::quiet();
    // In a file: what a variable says is written into the task.
    stage.fleet.ok(&["config", "set", "agent", "demo"]);
    stage.world.fleet = stage.fleet.env("FLEET_AGENT", "");
    let task = stage.add("First");
    stage.fleet.ok(&["task", "hold", &task]);
    let before = stage.content();
    for (code, arguments) in [
        (2, vec!["resume"]),
        (3, vec!["resume", "t0zz"]),
        (3, vec!["resume", &task, "no-such-branch"]),
        (3, vec!["resume", "--batch", "nonsense"]),
        (3, vec!["resume", "--batch", "s0sm8gkc13hs7fr"]),
        (3, vec!["resume", &task, "-c", "agent=elsewhere"]),
    ] {
        stage.fleet.fail(code, &arguments);
        assert_eq!(stage.content(), before, "{arguments:?}");
    }
}
