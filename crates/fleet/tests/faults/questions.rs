//! Questions, while everything is killed that carries them.

use fleet_testkit::wait_until;
use serde_json::Value;

use super::processes::kill;
use super::stage::{BOUND, Stage};

fn open(stage: &Stage) -> Vec<Value> {
    let items = stage.fleet.json(&["inbox"])["items"].as_array().unwrap().clone();
    items.into_iter().filter(|item| !item["question"].is_null()).collect()
}

#[track_caller]
fn wait_open(stage: &Stage) -> Value {
    wait_until(BOUND, "a question", || !open(stage).is_empty());
    let open = open(stage);
    assert_eq!(open.len(), 1, "{open:?}");
    open[0].clone()
}

fn count(stage: &Stage, kind: &str) -> usize {
    stage.events().iter().filter(|event| event["kind"] == kind).count()
}

/// Nobody was asked yet: the next run asks, once.
#[test]
fn a_question_that_was_not_stored_is_asked_by_the_next_run() {
    let stage = Stage::new();
    let task = stage.add("write a x\nquestion Which way?");
    let runner = stage.run(Some("question-received"));
    kill(stage.wait_held("question-received"));
    stage.let_go("question-received");
    wait_open(&stage);
    stage.fleet.ok(&["answer", &task, "left"]);
    stage.wait_status(&task, "done");
    assert_eq!((count(&stage, "task.asked"), count(&stage, "task.answered")), (1, 1));
    stage.assert_once(&task);
    stage.assert_tidy([runner]);
}

/// The keeper died with the question stored: it goes on as parked, and its answer continues the task.
#[test]
fn a_question_goes_on_as_parked_when_its_keeper_is_killed() {
    let stage = Stage::new();
    let sign = stage.sign("asked").display().to_string();
    let task = stage.add(&format!("write a x\nonce {sign} question Which way?"));
    let runner = stage.run(Some("question-stored"));
    kill(stage.wait_held("question-stored"));
    stage.let_go("question-stored");
    stage.wait_status(&task, "waiting");
    let question = wait_open(&stage)["question"]["id"].as_str().unwrap().to_owned();
    stage.fleet.ok(&["answer", &question, "left"]);
    stage.wait_status(&task, "done");
    assert_eq!((count(&stage, "task.asked"), count(&stage, "task.answered")), (1, 1));
    let runs = stage.task(&task)["runs"].as_array().unwrap().clone();
    assert_eq!(runs.len(), 2);
    let prompt = std::fs::read_to_string(stage.run_folder(runs[1]["id"].as_str().unwrap()).join("prompt.md"));
    assert!(prompt.unwrap().contains("You asked: Which way?\nThe answer: left"));
    stage.assert_tidy([runner]);
}

/// Neither the runner nor the client that asks has to live.
#[test]
fn a_question_outlives_the_runner_and_the_client_that_asked() {
    let stage = Stage::new();
    let task = stage.add("write a x\nquestion Which way?\nquestion Which way?");
    let mut runner = stage.run(None);
    let question = wait_open(&stage)["question"]["id"].as_str().unwrap().to_owned();
    runner.kill();
    let agent = stage.agent_pid(&stage.live_run());
    let children =
        || std::fs::read_to_string(format!("/proc/{agent}/task/{agent}/children")).unwrap_or_default();
    let client = || children().split_whitespace().next().and_then(|pid| pid.parse::<i32>().ok());
    let mut first = None;
    wait_until(BOUND, "a client that asks", || {
        first = client();
        first.is_some()
    });
    kill(first.unwrap());
    wait_until(BOUND, "it asks again", || client().is_some_and(|pid| Some(pid) != first));
    assert_eq!(wait_open(&stage)["question"]["id"], question.as_str(), "the same question");
    stage.fleet.ok(&["answer", &question, "left"]);
    let next = stage.next_runner();
    stage.wait_status(&task, "done");
    assert_eq!((count(&stage, "task.asked"), count(&stage, "task.answered")), (1, 1));
    assert_eq!(stage.task(&task)["runs"].as_array().unwrap().len(), 1);
    stage.assert_tidy([next]);
}

/// A person's client is killed before its answer is stored, and another one after that.
#[test]
fn an_answer_counts_from_when_it_is_stored() {
    let stage = Stage::new();
    let task = stage.add("write a x\nquestion Which way?");
    let runner = stage.run(None);
    wait_open(&stage);
    let answer = |point: &str, text: &str| {
        let mut client = stage.fleet.env("FLEET_TEST_HOLD", point).command(&["answer", &task, text]);
        let mut client = client.spawn().unwrap();
        assert_eq!(stage.wait_held(point), i32::try_from(client.id()).unwrap());
        client.kill().unwrap();
        client.wait().unwrap();
    };
    answer("answer-received", "left");
    assert_eq!(open(&stage).len(), 1, "nothing was answered");
    answer("answer-stored", "right");
    stage.wait_status(&task, "done");
    let told = stage.task(&task)["messages"][1]["text"].as_str().unwrap().to_owned();
    assert_eq!(told, "You asked: Which way?\nThe answer: right");
    stage.assert_once(&task);
    stage.assert_tidy([runner]);
}
