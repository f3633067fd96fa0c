//! Several do the same, and one of them is chosen.

use super::bench::{Bench, branch, stage, states};

fn contest(winner: &str) -> String {
    let report = format!(
        r#"report {{"summary": "The second one is shorter.", "status": "completed_no_changes", "verdict": {{"approve": true, "winner": "{winner}", "scores": [{{"name": "alpha", "score": 4}}, {{"name": "beta", "score": 7.5}}]}}}}"#
    );
    let mut text = stage("alpha", "", "write a.txt alpha");
    text += &stage("beta", "", "write a.txt beta");
    text += &stage("judge", "needs = ['alpha', 'beta']\nread_only = true\nreturns = 'verdict'", &report);
    text
}

#[test]
fn the_winner_is_named_with_its_branch_and_can_be_merged() {
    let bench = Bench::new();
    let output = bench.follow(&contest("beta"));
    assert_eq!(output.code, 0, "{output:?}\n{}", bench.reasons());
    let workflow = bench.newest();
    assert_eq!(states(&workflow), "alpha done, beta done, judge done");
    let beta = branch(&workflow, "beta");
    assert!(output.stderr.contains(&format!("git merge {beta}` merges it, the work of beta")), "{output:?}");
    let result = bench.fleet.json(&["workflow", "result", "w"]);
    assert_eq!(result["winner"], serde_json::json!({ "stage": "beta", "branch": beta, "by": "judge" }));
    assert_eq!(result["results"][0]["verdict"]["scores"]["beta"], 7.5, "{result}");
    let shown = bench.fleet.ok(&["workflow", "result", "w"]);
    assert!(
        shown.contains("judge chose beta") && shown.contains("winner: beta, alpha: 4, beta: 7.5"),
        "{shown}"
    );
    bench.repo.git(&["merge", "--quiet", &beta]);
    assert_eq!(bench.read("main", "a.txt"), "beta");
}

#[test]
fn a_winner_that_does_not_exist_is_none() {
    let bench = Bench::new();
    bench.succeed(&contest("gamma"));
    let result = bench.fleet.json(&["workflow", "result", "w"]);
    assert_eq!(
        (&result["winner"], &result["verdict"]["winner"]),
        (&serde_json::Value::Null, &"gamma".into()),
        "what was said is there all the same"
    );
    assert_eq!(result["branches"].as_array().unwrap().len(), 2, "both are offered: {result}");
}
