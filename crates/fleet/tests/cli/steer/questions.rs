//! Questions of agents: asked through the door, answered by people.

use fleet_testkit::wait_until;
use serde_json::Value;

use super::{SOON, Yard};

/// What waits for a person, once there is something.
#[track_caller]
fn inbox(yard: &Yard) -> Value {
    let mut seen = Value::Null;
    wait_until(SOON, "a question", || {
        seen = yard.fleet.json(&["inbox"]);
        !seen["items"].as_array().unwrap().is_empty()
    });
    seen["items"][0].clone()
}

#[track_caller]
fn wait_state(yard: &Yard, task: &str, state: &str) {
    wait_until(SOON, &format!("{task} is {state}"), || yard.task(task)["state"] == state);
}

#[test]
fn an_agent_waits_for_the_first_answer() {
    let mut yard = Yard::new();
    let task = yard.add("asks", "write a x\nquestion Which way? | left | right");
    yard.start_runner();
    let item = inbox(&yard);
    let id = format!("{task}.1");
    assert_eq!((&item["task"], &item["status"]), (&task.as_str().into(), &"asks".into()));
    assert_eq!((&item["question"]["id"], &item["question"]["parked"]), (&id.as_str().into(), &false.into()));
    assert_eq!(item["question"]["options"], serde_json::json!(["left", "right"]));
    assert_eq!(yard.fleet.json(&["status"])["needs_you"][0], item, "the same everywhere");
    let answers = format!("`fleet answer {id} \"…\"` answers it");
    for look in [["why", "asks"], ["show", "asks"], ["inbox", "--color=never"]] {
        let shown = yard.fleet.ok(&look);
        assert!(shown.contains("Which way?") && shown.contains(&answers), "{shown}");
    }
    let wrong = yard.fleet.run(&["answer", "asks", "up"]);
    assert_eq!(wrong.code, 2, "{wrong:?}");
    assert!(wrong.stderr.contains("\"up\" is not one of its options: 1 left, 2 right"), "{wrong:?}");
    let answered = yard.fleet.json(&["answer", "asks", "2"]);
    assert_eq!((&answered["question"]["answer"], &answered["open"]), (&"right".into(), &0.into()));
    let late = yard.fleet.run(&["answer", &id, "1"]);
    assert!(late.code != 0 && late.stderr.contains("has answered it: right"), "{late:?}");
    wait_state(&yard, &task, "done");
    assert!(yard.fleet.ok(&["logs", "asks"]).contains("The answer: right"));
    let shown = yard.task(&task);
    assert_eq!(shown["runs"].as_array().unwrap().len(), 1);
    let states: Vec<_> = shown["messages"].as_array().unwrap().iter().map(|one| &one["state"]).collect();
    assert_eq!(states, ["answered", "seen"]);
    assert!(yard.fleet.json(&["inbox"])["items"].as_array().unwrap().is_empty());
}

#[test]
fn a_parked_question_ends_the_run_and_the_answer_continues_it() {
    let mut yard = Yard::new();
    let sign = yard.sign("parked").display().to_string();
    let script =
        format!("once \"{sign}.1\" write a kept\nonce \"{sign}.2\" park What now?\nwait-for \"{sign}\" 1m");
    let task = yard.add("parks", &script);
    yard.start_runner();
    wait_state(&yard, &task, "waiting");
    wait_until(SOON, "its slot is free", || yard.marks() == 0);
    assert_eq!(yard.file("parks", "a"), "kept", "its work is on its branch");
    let item = inbox(&yard);
    assert_eq!(item["question"]["parked"], true);
    std::fs::write(&sign, "").unwrap();
    let answered = yard.fleet.stdin("Go on\n").json(&["answer", "parks", "-"]);
    assert_eq!(
        (&answered["task"]["state"], &answered["question"]["answer"]),
        (&"queued".into(), &"Go on".into())
    );
    wait_state(&yard, &task, "done");
    let shown = yard.task(&task);
    let runs = shown["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2, "{shown}");
    let prompt = yard.fleet.home().join("runs").join(runs[1]["id"].as_str().unwrap()).join("prompt.md");
    let prompt = std::fs::read_to_string(prompt).unwrap();
    assert!(prompt.contains("You asked: What now?\nThe answer: Go on"), "{prompt}");
    let none = yard.fleet.run(&["answer", "parks", "x"]);
    assert!(none.stderr.contains("has no open question"), "{none:?}");
}

#[test]
fn what_cannot_be_asked_or_answered_says_so() {
    let yard = Yard::new();
    let refused = yard.fleet.run(&["ask", "Anybody?"]);
    assert!(refused.code != 0 && refused.stderr.contains("works only inside a run"), "{refused:?}");
    let wrong = yard.fleet.run(&["answer", "t0skybe7ym6dd2w.1", "x"]);
    assert!(wrong.stderr.contains("there is no question t0skybe7ym6dd2w.1"), "{wrong:?}");
    assert_eq!(yard.fleet.ok(&["inbox"]).trim(), "nothing waits for you");
}
