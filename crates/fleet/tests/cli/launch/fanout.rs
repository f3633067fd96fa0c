//! The same prompt on several branches.

use std::collections::BTreeSet;
use std::process::Stdio;

use serde_json::Value;

use super::super::support::{World, error};
use super::{Stage, prompt};

fn branches(answer: &Value) -> Vec<&str> {
    answer["tasks"].as_array().unwrap().iter().map(|task| task["branch"].as_str().unwrap()).collect()
}

fn five_at_once(stage: &Stage) {
    let text = prompt("Write", "write a.txt x");
    let answer = stage.fleet.json(&["fanout", "5", "try", "-p", &text, "--agent", "demo,demo"]);
    assert_eq!(branches(&answer), ["try-A", "try-B", "try-C", "try-D", "try-E"]);
    let batch = answer["batch"].as_str().unwrap();
    let base = stage.repo.git(&["rev-parse", "main"]);
    for task in answer["tasks"].as_array().unwrap() {
        assert_eq!((&task["state"], &task["batch"]), (&"done".into(), &batch.into()));
        assert_eq!(task["base"], base, "all from the same commit");
        assert_eq!(stage.file(task["branch"].as_str().unwrap(), "a.txt"), "x");
    }
    let listed = stage.fleet.json(&["task", "list", "--all", "--batch", batch]);
    assert_eq!(listed["tasks"].as_array().unwrap().len(), 5);
}

#[test]
fn five_at_once_on_sqlite() {
    five_at_once(&Stage::new());
}

#[test]
fn five_at_once_on_postgresql() {
    five_at_once(&Stage::with(World::postgres()));
}

#[test]
fn a_failed_one_is_named_among_the_others() {
    let stage = Stage::new();
    let text = prompt("Write", "once ../first exit 4\nwrite a.txt x");
    // Only one agent finds that nobody was there before; slots of their own, so that all are started.
    let output = stage.fleet.fail(8, &["fanout", "3", "try", "-p", &text]);
    assert!(output.stderr.contains("1 of 3 tasks not done"), "{output:?}");
    assert!(output.stderr.contains("exit status 4: `fleet why try-"), "{output:?}");
    assert!(output.stderr.contains("fleet resume --batch s"), "{output:?}");
    let states: Vec<&str> = output.stdout.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(states.iter().filter(|state| **state == "done").count(), 2, "{output:?}");
    assert_eq!(states.iter().filter(|state| **state == "failed").count(), 1, "{output:?}");
}

#[test]
fn agents_take_turns_and_letters_go_on() {
    let stage = Stage::quiet();
    let answer = stage.fleet.json(&["fanout", "28", "many", "-d", "-p", "x"]);
    assert_eq!(branches(&answer)[24..], ["many-Y", "many-Z", "many-AA", "many-AB"]);
    let most = stage.fleet.json(&["fanout", "100", "most", "-d", "-p", "x"]);
    let different: BTreeSet<&str> = branches(&most).into_iter().collect();
    assert_eq!(different.len(), 100);
}

#[test]
fn a_name_from_the_prompt_is_always_a_free_one() {
    let stage = Stage::quiet();
    let fan = || stage.fleet.stdin("Fix the Login!\nPlease.").json(&["fanout", "2", "-", "-d"]);
    assert_eq!(branches(&fan()), ["fix-the-login-A", "fix-the-login-B"]);
    assert_eq!(branches(&fan()), ["fix-the-login-2-A", "fix-the-login-2-B"]);
    stage.repo.git(&["branch", "fix-the-login-3-B"]);
    assert_eq!(branches(&fan()), ["fix-the-login-4-A", "fix-the-login-4-B"], "all of its names are free");
}

/// Names are made up by all of them at the same time, and nobody gets one twice.
#[test]
fn many_who_make_up_the_same_name_get_different_ones() {
    let stage = Stage::quiet();
    let start = || {
        let mut command = stage.fleet.command(&["fanout", "2", "-d", "-p", "Same", "--json"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..8).map(|_| start()).collect();
    let mut names = BTreeSet::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        names.extend(branches(&answer).into_iter().map(ToOwned::to_owned));
    }
    assert_eq!(names.len(), 16, "{names:?}");
}

#[test]
fn one_taken_name_creates_nothing() {
    let stage = Stage::quiet();
    stage.repo.git(&["branch", "try-C"]);
    stage.add("First");
    let before = stage.content();
    let output = stage.fleet.fail(4, &["fanout", "3", "try", "-p", "x", "--json"]);
    let (code, message, hints) = error(&output);
    assert_eq!(code, "branch-taken");
    assert!(message.contains("try-C") && hints.contains("another name"), "{message} {hints}");
    assert_eq!(stage.content(), before);
    stage.fleet.ok(&["fanout", "2", "try", "-d", "-p", "x"]);
    let before = stage.content();
    stage.fleet.fail(4, &["fanout", "2", "try", "-d", "-p", "x"]);
    assert_eq!(stage.content(), before, "what is queued has its names, too");
}

#[test]
fn wrong_numbers_and_agents_create_nothing() {
    let stage = Stage::quiet();
    stage.add("First");
    let before = stage.content();
    for (number, agent, said) in [
        ("0", "demo", "N takes a number from 1 to 100, not 0"),
        ("101", "demo", "from 1 to 100, not 101"),
        ("-1", "demo", "from 1 to 100, not -1"),
        ("two", "demo", "two"),
        ("2", "demo,nobody", "no agent `nobody`"),
        ("2", "demo,,", "agent"),
    ] {
        let output = stage.fleet.fail(2, &["fanout", number, "try", "-p", "x", "--agent", agent]);
        assert!(output.stderr.contains(said), "{output:?}");
    }
    stage.fleet.fail(2, &["fanout", "2", "a b", "-p", "x"]);
    stage.fleet.fail(2, &["fanout", "2", "try", "-p", " "]);
    assert_eq!(stage.content(), before);
}
