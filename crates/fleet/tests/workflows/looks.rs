//! What people see of workflows, and of tasks that are stages.

use super::bench::{Bench, named, stage};

#[test]
fn lists_are_paged_and_narrowed() {
    let bench = Bench::quiet();
    let empty = bench.fleet.run(&["workflow", "list"]);
    assert_eq!((empty.code, empty.stdout.as_str()), (0, ""));
    assert!(empty.stderr.contains("fleet workflow list --all"), "{empty:?}");
    let ids: Vec<String> = (0..3).map(|_| bench.start(&stage("a", "", "hang"))).collect();
    bench.fleet.ok(&["workflow", "cancel", &ids[0]]);
    let list = |arguments: &[&str]| -> (Vec<String>, Option<String>) {
        let list = bench.fleet.json(&[&["workflow", "list"], arguments].concat());
        let id = |one: &serde_json::Value| one["id"].as_str().unwrap().to_owned();
        let next = list["next"].as_str().map(ToOwned::to_owned);
        (list["workflows"].as_array().unwrap().iter().map(id).collect(), next)
    };
    assert_eq!(list(&[]).0, [ids[2].clone(), ids[1].clone()], "those that are not over");
    assert_eq!(list(&["--state", "cancelled"]).0, [ids[0].clone()]);
    let (page, next) = list(&["--all", "-n", "2"]);
    assert_eq!((page.len(), next.as_deref()), (2, Some(ids[1].as_str())));
    assert_eq!(list(&["--all", "-n", "2", "--before", &next.unwrap()]), (vec![ids[0].clone()], None));
    assert_eq!(bench.fleet.run(&["workflow", "list", "--state", "lost"]).code, 2);
    let shown = bench.fleet.ok(&["wf", "ls", "--all"]);
    assert!(shown.contains("cancelled") && shown.contains("1/1") && shown.contains("0/1"), "{shown}");
}

/// Many agents just say what they think.
#[test]
fn a_review_in_prose_that_changes_nothing_is_done() {
    let bench = Bench::new();
    let review = stage(
        "review",
        "needs = ['a']\nstart = 'inherit'\nchanges = 'optional'",
        "report It is fine as it is.",
    );
    let workflow = bench.succeed(&(stage("a", "", "write a.txt x") + &review));
    assert_eq!(named(&workflow, "review")["state"], "done", "{workflow}");
    let run = named(&workflow, "review")["task"].as_str().unwrap();
    let shown = bench.fleet.json(&["show", run]);
    assert_eq!(shown["result"]["summary"], "It is fine as it is.", "{shown}");
}

#[test]
fn a_task_says_which_stage_it_is() {
    let bench = Bench::quiet();
    let id = bench.start(&(stage("a", "", "hang") + &stage("b", "needs = ['a']", "hang")));
    let workflow = bench.show(&id);
    let task = named(&workflow, "a")["task"].as_str().unwrap();
    let shown = bench.fleet.json(&["task", "show", task]);
    assert_eq!(shown["workflow"], id.as_str(), "{shown}");
    assert!(bench.fleet.ok(&["task", "show", task]).contains(&format!("a of w ({id})")));
    let why = bench.fleet.json(&["why", task]);
    let advice = why["advice"].as_array().unwrap();
    assert!(
        advice.iter().any(|line| line.as_str().unwrap().contains(&format!("fleet workflow show {id}"))),
        "{why}"
    );
    let show = bench.fleet.ok(&["workflow", "show", "w"]);
    for part in ["after a", "ready", "fleet workflow watch", "Do it"] {
        assert!(show.contains(part), "{part}: {show}");
    }
}

#[test]
fn a_dry_run_shows_what_would_happen() {
    let bench = Bench::quiet();
    let text =
        format!("task = 'Say hello'\n{}", stage("a", "", "say x") + &stage("b", "needs = ['a']", "hang"));
    let file = bench.file("w.toml", &text.replace("Do a.", "First: {task_prompt}"));
    let plan = bench.fleet.json(&["workflow", "run", &file, "--dry-run"]);
    assert!(plan["stages"][0]["prompt"].as_str().unwrap().starts_with("First: Say hello"), "{plan}");
    assert!(plan["stages"][1]["prompt"].is_null(), "what others say is not known yet");
    let said = bench.fleet.ok(&["workflow", "run", &file, "--dry-run"]);
    assert!(said.contains("nothing was started") && said.contains("First: Say hello"), "{said}");
    assert_eq!(bench.fleet.json(&["workflow", "list", "--all"])["workflows"].as_array().unwrap().len(), 0);
}
