//! Trying again.

use super::bench::{Bench, branch, named, stage, states};

#[test]
fn only_what_is_not_done_is_tried_again() {
    let bench = Bench::new();
    let sign = bench.sign("first").display().to_string();
    let mut text = stage("a", "", "write a.txt x");
    text += &stage("b", "needs = ['a']\nstart = 'inherit'", &format!("write b.txt x\nonce {sign} exit 1"));
    text += &stage("c", "needs = ['b']\nstart = 'inherit'", "write c.txt x");
    assert_eq!(bench.follow(&text).code, 8);
    assert_eq!(states(&bench.newest()), "a done, b failed, c skipped");
    let output = bench.fleet.run(&["workflow", "retry", "w"]);
    assert_eq!(output.code, 0, "{output:?}\n{}", bench.reasons());
    let workflow = bench.newest();
    assert_eq!(states(&workflow), "a done, b done, c done");
    assert_eq!(
        (&named(&workflow, "a")["attempts"], &named(&workflow, "b")["attempts"]),
        (&1.into(), &2.into())
    );
    assert_eq!(bench.files(&branch(&workflow, "c")), ["a.txt", "b.txt", "c.txt"]);
    let nothing = bench.fleet.fail(4, &["workflow", "retry", "w"]);
    assert!(nothing.stderr.contains("succeeded"), "nothing is left to try again: {nothing:?}");
}

#[test]
fn from_a_stage_on_everything_is_done_once_more() {
    let bench = Bench::new();
    let mut text = stage("a", "", "write a.txt x");
    text += &stage("b", "needs = ['a']\nstart = 'inherit'", "write b.txt x");
    text += &stage("c", "needs = ['b']\nstart = 'inherit'", "write c.txt x");
    let before = bench.succeed(&text);
    let output = bench.fleet.run(&["workflow", "retry", "w", "--from", "b"]);
    assert_eq!(output.code, 0, "{output:?}");
    let after = bench.newest();
    assert_eq!(states(&after), "a done, b done, c done");
    assert_eq!(branch(&before, "a"), branch(&after, "a"));
    for name in ["b", "c"] {
        assert_ne!(branch(&before, name), branch(&after, name), "on a new branch");
    }
    let wrong = bench.fleet.fail(2, &["workflow", "retry", "w", "--from", "d"]);
    assert!(wrong.stderr.contains("a, b, c"), "{wrong:?}");
}

#[test]
fn a_cancelled_workflow_can_go_on() {
    let mut bench = Bench::quiet();
    let id = bench.start(&(stage("a", "", "write a.txt x") + &stage("b", "needs = ['a']", "write b.txt x")));
    bench.fleet.ok(&["workflow", "cancel", &id]);
    bench.start_runner();
    let output = bench.fleet.run(&["workflow", "retry", &id]);
    assert_eq!(output.code, 0, "{output:?}");
    assert_eq!(states(&bench.show(&id)), "a done, b done");
}

#[test]
fn a_task_that_is_retried_by_hand_brings_its_workflow_back() {
    let bench = Bench::new();
    let sign = bench.sign("first").display().to_string();
    let mut text = stage("a", "", &format!("write a.txt x\nonce {sign} exit 1"));
    text += &stage("b", "needs = ['a']", "write b.txt x");
    assert_eq!(bench.follow(&text).code, 8);
    let failed = bench.newest();
    bench.fleet.ok(&["task", "retry", named(&failed, "a")["task"].as_str().unwrap()]);
    let id = failed["id"].as_str().unwrap();
    let output = bench.fleet.run(&["workflow", "watch", id]);
    assert_eq!(output.code, 0, "{output:?}");
    assert_eq!(states(&bench.show(id)), "a done, b done");
}

#[test]
fn a_prompt_that_was_mended_is_the_one_that_is_used() {
    let bench = Bench::new();
    let mut text = stage("a", "", "write a.txt x");
    text += &stage("b", "needs = ['a']\nstart = 'inherit'", "exit 1");
    assert_eq!(bench.follow(&text).code, 8);
    let failed = bench.newest();
    let task = named(&failed, "b")["task"].as_str().unwrap().to_owned();
    let mended = "Go on from {a.branch}.\n\n```demo\nwrite b.txt x\n```\n";
    bench.fleet.ok(&["task", "edit", &task, "-d", mended]);
    let output = bench.fleet.run(&["workflow", "retry", "w"]);
    assert_eq!(output.code, 0, "{output:?}\n{}", bench.reasons());
    let workflow = bench.newest();
    assert_eq!(bench.files(&branch(&workflow, "b")), ["a.txt", "b.txt"]);
    let told = bench.prompt(named(&workflow, "b"));
    assert!(told.contains(&format!("Go on from {}.", branch(&workflow, "a"))), "{told}");
}
