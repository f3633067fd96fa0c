//! One after the other: write, review, refine.

use super::bench::{Bench, branch, named, stage, states};

/// What a reviewer says in the end.
fn verdict(approve: bool) -> String {
    let report = format!(
        r#"{{"summary": "I looked at it.", "status": "completed_no_changes", "next_steps": ["Say goodbye, too."], "verdict": {{"approve": {approve}}}}}"#
    );
    format!("report {report}")
}

fn stages(approve: bool) -> String {
    let review = "needs = ['write']\nstart = 'inherit'\nread_only = true\nreturns = 'verdict'";
    let refine = "needs = ['review']\nstart = 'inherit'\nwhen = 'review.approve == false'";
    let mut text = stage("write", "", "write a.txt hello\nsay I wrote a greeting.");
    text += &stage("review", review, &verdict(approve));
    text += &stage("refine", refine, "append a.txt goodbye");
    text.replace("Do refine.", "Do it better. They say: {review.summary} {review.next_steps}")
        .replace("Do review.", "Look at {write.branch}: {write.summary} {write.diff}")
}

#[test]
fn a_review_that_finds_something_is_followed_by_better_work() {
    let bench = Bench::new();
    let output = bench.follow(&stages(false));
    assert_eq!(output.code, 0, "{output:?}\n{}", bench.reasons());
    let told: Vec<Vec<&str>> = output.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    let ends: Vec<&str> = told.iter().filter(|line| line[0] == "done").map(|line| line[1]).collect();
    assert_eq!(ends, ["write", "review", "refine"], "{output:?}");
    let workflow = bench.newest();
    assert_eq!(states(&workflow), "write done, review done, refine done");
    assert!(output.stderr.contains(&format!("git merge {}", branch(&workflow, "refine"))), "{output:?}");
    assert_eq!(bench.read(&branch(&workflow, "refine"), "a.txt"), "hello\ngoodbye");
    assert_eq!(bench.repo.git(&["status", "--porcelain"]), "", "the user's checkout is as it was");
    let review = bench.prompt(named(&workflow, "review"));
    for part in
        [branch(&workflow, "write").as_str(), "I wrote a greeting.", "+hello", "Written by another agent"]
    {
        assert!(review.contains(part), "{part} is missing: {review}");
    }
    let refine = bench.prompt(named(&workflow, "refine"));
    assert!(refine.contains("I looked at it.") && refine.contains("Say goodbye, too."), "{refine}");
}

#[test]
fn a_review_that_approves_ends_it() {
    let bench = Bench::new();
    let workflow = bench.succeed(&stages(true));
    assert_eq!(states(&workflow), "write done, review done, refine skipped");
    assert_eq!(named(&workflow, "refine")["why"], "review has no objections");
    let result = bench.fleet.json(&["workflow", "result", "w"]);
    assert_eq!(result["branches"], serde_json::json!([branch(&workflow, "write")]), "where the work is");
    let of_review = bench.fleet.json(&["workflow", "result", "w", "--stage", "review"]);
    assert_eq!(of_review["results"][0]["verdict"]["approve"], true, "{of_review}");
    assert!(of_review["results"][0]["branch"].is_null(), "who only looked has none: {of_review}");
    let all = bench.fleet.json(&["workflow", "result", "w", "--all"]);
    assert_eq!(all["results"].as_array().unwrap().len(), 3);
    assert_eq!(all["results"][0]["result"]["files_changed"][0], "a.txt");
}

#[test]
fn an_agent_without_the_verdict_that_it_was_asked_for_has_failed() {
    let bench = Bench::new();
    let stages = stages(true).replace("verdict\": {\"approve\": true}", "tests\": []");
    let output = bench.follow(&stages);
    assert_eq!(output.code, 8, "{output:?}");
    assert_eq!(states(&bench.newest()), "write done, review failed, refine skipped");
    assert!(output.stderr.contains("verdict"), "{output:?}");
}

#[test]
fn checks_decide() {
    let bench = Bench::new();
    let good = stage("write", "checks = [['test', '-f', 'a.txt']]", "write a.txt x");
    assert_eq!(states(&bench.succeed(&good)), "write done");
    let bad = stage("write", "checks = ['test -f b.txt']", "write a.txt x");
    let output = bench.follow(&bad);
    assert_eq!(output.code, 8, "{output:?}");
    assert!(output.stderr.contains("checks_failed") || output.stderr.contains("test -f b.txt"), "{output:?}");
}

#[test]
fn what_somebody_types_reaches_the_agents() {
    let bench = Bench::new();
    let file = bench.file(
        "p.toml",
        "[params]\nwhere = 'a.txt'\n[stages.write]\nprompt = '''\n{task_prompt}\n```demo\nwrite {params.where} x\n```\n'''\n",
    );
    let fleet = bench.fleet.stdin("From a pipe");
    let run = |more: &[&str]| fleet.json(&[&["workflow", "run", file.as_str()], more].concat());
    let first = run(&["--task", "Typed"]);
    assert_eq!((&first["name"], &first["state"]), (&"p".into(), &"succeeded".into()));
    assert_eq!(bench.files(&branch(&first, "write")), ["a.txt"]);
    assert!(bench.prompt(named(&first, "write")).contains("Typed"));
    let second = run(&["-", "--set", "where=b.txt", "--priority", "1"]);
    assert_eq!(bench.files(&branch(&second, "write")), ["b.txt"]);
    assert!(bench.prompt(named(&second, "write")).contains("From a pipe"));
    assert_eq!((&second["priority"], &second["params"]["where"]), (&1.into(), &"b.txt".into()));
}

#[test]
fn the_work_starts_where_it_was_asked_to_whatever_happens_meanwhile() {
    let mut bench = Bench::quiet();
    let first = bench.repo.git(&["rev-parse", "HEAD"]);
    let text = stage("a", "", "write a.txt x") + &stage("b", "needs = ['a']", "write b.txt x");
    let id = bench.start(&text);
    bench.repo.write("later.txt", "later");
    bench.repo.commit("second");
    bench.start_runner();
    let output = bench.fleet.run(&["workflow", "watch", &id]);
    assert_eq!(output.code, 0, "{output:?}");
    let workflow = bench.show(&id);
    assert_eq!(workflow["base"], first);
    for (name, file) in [("a", "a.txt"), ("b", "b.txt")] {
        assert_eq!(bench.files(&branch(&workflow, name)), [file], "nothing of later, nothing of the other");
    }
}
