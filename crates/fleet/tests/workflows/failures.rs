//! What follows from a stage that fails.

use super::bench::{Bench, named, stage, states};

fn with(settings: &str) -> String {
    let mut text = stage("bad", settings, "exit 3");
    text += &stage("after", "needs = ['bad']", "write a.txt x");
    text += &stage("other", "", "sleep 300ms\nwrite b.txt x");
    text += &stage("last", "needs = ['other']", "write c.txt x");
    text
}

#[test]
fn a_failure_ends_it_without_harm_for_what_is_at_work() {
    let bench = Bench::new();
    let output = bench.follow(&with(""));
    assert_eq!(output.code, 8, "{output:?}");
    let workflow = bench.newest();
    assert_eq!(workflow["state"], "failed");
    assert_eq!(workflow["why"], "bad failed");
    assert_eq!(states(&workflow), "bad failed, other done, after skipped, last skipped");
    for part in ["w failed: bad failed", "exit status 3", "fleet why t", "fleet workflow retry w"] {
        assert!(output.stderr.contains(part), "{part}: {output:?}");
    }
}

#[test]
fn those_that_need_it_are_skipped_and_the_others_go_on() {
    let bench = Bench::new();
    let workflow = bench.succeed(&with("on_failure = 'skip_dependents'"));
    assert_eq!(states(&workflow), "bad failed, other done, after skipped, last done");
    assert!(named(&workflow, "after")["why"].as_str().unwrap().contains("a stage that it needs"));
}

#[test]
fn those_that_need_it_go_on_with_what_there_is() {
    let bench = Bench::new();
    let text =
        with("on_failure = 'continue'").replace("Do after.", "bad came to {bad.status}: {bad.summary}");
    let workflow = bench.succeed(&text);
    assert_eq!(states(&workflow), "bad failed, other done, after done, last done");
    let prompt = bench.prompt(named(&workflow, "after"));
    assert!(prompt.contains("bad came to failed") && prompt.contains("exit status 3"), "{prompt}");
}

#[test]
fn failures_that_are_tolerated_are_told_once_and_briefly() {
    let bench = Bench::new();
    let text = stage("bad", "on_failure = 'continue'", "error agent_error one\\ntwo\\nthree\nexit 3")
        + &stage("good", "", "write a.txt x");
    let output = bench.follow(&text);
    assert_eq!(output.code, 0, "{output:?}");
    let said = output.stderr.as_str();
    assert!(said.contains("1 stage done\n1 stage failed, and it went on without:\n  bad failed: "), "{said}");
    assert!(said.contains("fleet why t") && !said.contains("\\n"), "{said}");
}

#[test]
fn a_hasty_workflow_stops_what_is_at_work() {
    let bench = Bench::new();
    let sign = bench.sign("at-work").display().to_string();
    let mut text = String::from("fail_fast = true\n");
    text += &stage("bad", "", &format!("wait-for {sign} 1m\nexit 3"));
    text += &stage("slow", "", &format!("write a.txt x\ntouch {sign}\nhang"));
    let output = bench.follow(&text);
    assert_eq!(output.code, 8, "{output:?}");
    let workflow = bench.newest();
    assert_eq!(states(&workflow), "bad failed, slow cancelled");
    assert_eq!(bench.files(workflow["stages"][1]["branch"].as_str().unwrap()), ["a.txt"], "its work is kept");
}

#[test]
fn a_stage_is_tried_as_often_as_it_says() {
    let bench = Bench::new();
    let sign = bench.sign("first").display().to_string();
    let text = stage("shaky", "retries = 1", &format!("once {sign} exit 1\nwrite a.txt x"));
    let workflow = bench.succeed(&text);
    assert_eq!(named(&workflow, "shaky")["attempts"], 2);
}

#[test]
fn a_question_to_a_person_ends_the_following_and_not_the_workflow() {
    let bench = Bench::new();
    let text = stage("ask", "", "ask which one?") + &stage("b", "needs = ['ask']", "write b.txt x");
    let output = bench.follow(&text);
    assert_eq!(output.code, 8, "{output:?}");
    assert!(
        output.stderr.contains("waits for a person") && output.stderr.contains("ask waiting"),
        "{output:?}"
    );
    let workflow = bench.newest();
    assert_eq!(
        (&workflow["state"], named(&workflow, "ask")["status"].as_str()),
        (&"running".into(), Some("waiting"))
    );
}
