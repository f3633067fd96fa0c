//! A stage that becomes several, and what they made brought together.

use super::bench::{Bench, branch, named, stage, states};

fn planned(items: &str, work: &str, join: &str) -> String {
    let plan =
        format!(r#"report {{"summary": "A plan.", "status": "completed_no_changes", "items": [{items}]}}"#);
    let mut text = stage("plan", "read_only = true\nreturns = 'list'", &plan);
    text += &stage("work", "needs = ['plan']\nforeach = 'plan.items'", work);
    text += &stage(
        "join",
        &format!("needs = ['work']\nstart = 'inherit'\nchanges = 'optional'\n{join}"),
        "say ok",
    );
    text
}

#[test]
fn a_plan_is_spread_and_merged() {
    let bench = Bench::new();
    let workflow = bench.succeed(&planned(r#""one", "two", "three""#, "write {item}.txt {number}", ""));
    assert_eq!(states(&workflow), "plan done, work-1 done, work-2 done, work-3 done, join done");
    assert_eq!(named(&workflow, "work-2")["item"], "two");
    assert_eq!(bench.files(&branch(&workflow, "work-2")), ["two.txt"]);
    let joined = branch(&workflow, "join");
    assert_eq!(bench.files(&joined), ["one.txt", "three.txt", "two.txt"]);
    assert_eq!(bench.read(&joined, "three.txt"), "3");
    let result = bench.fleet.json(&["workflow", "result", "w"]);
    assert_eq!(result["branches"], serde_json::json!([joined]), "it brought them together");
}

#[test]
fn an_empty_list_is_nothing_to_do() {
    let bench = Bench::new();
    let workflow = bench.succeed(&planned("", "write {item}.txt x", ""));
    assert_eq!(states(&workflow), "plan done, work-1 skipped, join done");
}

#[test]
fn lists_in_the_file_and_counts_need_no_plan() {
    let bench = Bench::new();
    let mut text = stage("each", "foreach = ['x', 'y']", "write {item}.txt x");
    text += &stage("same", "count = 2", "write s{number}.txt x");
    text += &stage("join", "needs = ['each', 'same']\nstart = 'inherit'\nchanges = 'optional'", "say ok");
    let workflow = bench.succeed(&text);
    assert_eq!(bench.files(&branch(&workflow, "join")), ["s1.txt", "s2.txt", "x.txt", "y.txt"]);
}

#[test]
fn branches_that_contradict_each_other_fail_with_their_names() {
    let bench = Bench::new();
    let output = bench.follow(&planned(r#""one", "two""#, "write a.txt {item}", ""));
    assert_eq!(output.code, 8, "{output:?}");
    let workflow = bench.newest();
    assert_eq!(states(&workflow), "plan done, work-1 done, work-2 done, join failed");
    let why = named(&workflow, "join")["why"].as_str().unwrap();
    assert!(why.contains("a.txt"), "{workflow}");
    let task = named(&workflow, "join")["task"].as_str().unwrap();
    let explained = bench.fleet.json(&["why", task]);
    assert_eq!(explained["reason"], "merge_conflict", "{explained}");
}

#[test]
fn an_agent_may_be_asked_to_resolve_the_contradiction_and_has_to_do_it() {
    let bench = Bench::new();
    let output = bench.follow(&planned(r#""one", "two""#, "write a.txt {item}", "on_conflict = 'resolve'"));
    assert_eq!(output.code, 8, "{output:?}");
    assert!(output.stderr.contains("the agent did not merge everything"), "{output:?}");
    let workflow = bench.newest();
    let prompt = bench.prompt(named(&workflow, "join"));
    for part in [branch(&workflow, "work-2").as_str(), "a.txt", "merge"] {
        assert!(prompt.contains(part), "{part} is missing: {prompt}");
    }
}
