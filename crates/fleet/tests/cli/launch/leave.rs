//! Whoever leaves, or never stays, stops nothing.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use fleet_testkit::wait_until;

use super::{SOON, Stage, id, prompt};

/// SIGINT, as a bit of `SigCgt`.
const INTERRUPT: u64 = 1 << 1;

/// Follows until the task runs, then Ctrl-C; returns exit code, the rest of standard output, and standard error.
fn leave(stage: &Stage, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = stage.fleet.command(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    if arguments.contains(&"--json") {
        wait_until(SOON, "a run", || stage.fleet.json(&["status"])["running"] == 1);
        wait_until(SOON, "somebody who follows it", || catches_interrupts(child.id()));
    } else {
        let mut line = String::new();
        while !line.contains("running") {
            line.clear();
            assert!(out.read_line(&mut line).unwrap() > 0, "it ended before the task ran");
        }
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut out, &mut rest).unwrap();
    let ended = child.wait_with_output().unwrap();
    (ended.status.code(), rest, String::from_utf8(ended.stderr).unwrap())
}

/// Whether a process follows: before, Ctrl-C just ends it. Without /proc, the run that was seen has to do.
fn catches_interrupts(pid: u32) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/status")) else { return true };
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(caught.trim(), 16).unwrap() & INTERRUPT != 0
}

#[test]
fn ctrl_c_leaves_the_work_as_it_is() {
    let stage = Stage::new();
    let text = prompt("Long", "wait-for ../go-on 1m\nwrite a.txt x");
    let (code, _, stderr) = leave(&stage, &["create", "long", "-p", &text]);
    assert_eq!(code, Some(130), "{stderr}");
    assert!(stderr.contains("agents keep running") && stderr.contains("fleet kill long"), "{stderr}");
    let list = stage.fleet.json(&["task", "list"]);
    assert_eq!(list["tasks"][0]["state"], "running");
    let run = stage.fleet.json(&["task", "show", &id(&list["tasks"][0])]);
    assert_eq!(run["runs"][0]["ended_at"], serde_json::Value::Null);
}

#[test]
fn ctrl_c_in_json_tells_how_it_stands() {
    let stage = Stage::new();
    let text = prompt("Long", "hang");
    let (code, rest, stderr) = leave(&stage, &["create", "long", "-p", &text, "--json"]);
    assert_eq!((code, stderr.as_str()), (Some(130), ""), "{rest}");
    let answer: serde_json::Value = serde_json::from_str(&rest).unwrap();
    assert_eq!(answer["tasks"][0]["state"], "running");
}

#[test]
fn without_a_runner_it_is_queued_and_said() {
    let stage = Stage::quiet();
    let output = stage.fleet.run(&["create", "later", "-d", "-p", &prompt("Later", "write a.txt x")]);
    assert_eq!(output.code, 0, "{output:?}");
    assert!(output.stderr.contains("no runner is up") && output.stderr.contains("fleet start"), "{output:?}");
    let task = output.stdout.split_whitespace().next().unwrap();
    assert_eq!(stage.state(task), "queued");
    assert_eq!(stage.fleet.json(&["status"])["runners"].as_array().unwrap().len(), 0);
    stage.fleet.ok(&["run", "--until-idle"]);
    assert_eq!(stage.state(task), "done");
    assert_eq!(stage.file("later", "a.txt"), "x");
}

#[test]
fn following_goes_on_without_a_runner_until_one_comes() {
    let stage = Stage::quiet();
    let mut command = stage.fleet.command(&["create", "later", "-p", &prompt("Later", "write a.txt x")]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until(SOON, "the task", || {
        stage.fleet.json(&["task", "list"])["tasks"].as_array().unwrap().len() == 1
    });
    stage.fleet.ok(&["run", "--until-idle"]);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("no runner is up"), "{output:?}");
}

#[test]
fn a_task_that_is_taken_away_ends_the_following() {
    for (verb, said) in [("cancel", "was cancelled"), ("hold", "is held")] {
        let stage = Stage::quiet();
        let mut command = stage.fleet.command(&["create", "later", "-p", "x"]);
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut task = String::new();
        wait_until(SOON, "the task", || {
            task =
                stage.fleet.json(&["task", "list"])["tasks"][0]["id"].as_str().unwrap_or_default().to_owned();
            !task.is_empty()
        });
        stage.fleet.ok(&["task", verb, &task]);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(8), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(said), "{output:?}");
    }
}

#[test]
fn a_deleted_task_ends_the_following() {
    let stage = Stage::quiet();
    let mut command = stage.fleet.command(&["create", "later", "-p", "x"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut task = String::new();
    wait_until(SOON, "the task", || {
        task = stage.fleet.json(&["task", "list"])["tasks"][0]["id"].as_str().unwrap_or_default().to_owned();
        !task.is_empty()
    });
    stage.fleet.ok(&["task", "delete", "-y", &task]);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(8), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("1 task was deleted"), "{output:?}");
}
