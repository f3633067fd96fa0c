//! `fleet review`, with real work of the demo agent.

use serde_json::{Value, json};

use super::{add, run_all, world};
use crate::support::error;

#[track_caller]
fn review<'a>(found: &'a Value, task: &str) -> &'a Value {
    found["reviews"].as_array().unwrap().iter().find(|review| review["task"] == task).unwrap()
}

#[test]
fn finished_work_is_judged_by_what_was_seen() {
    let world = world();
    let good = add(&world, "good", "write good.txt x\nusage 100 20 0.5\nsay It is done.", &[]);
    let landed = add(&world, "landed", "write landed.txt x", &[]);
    let odd = add(&world, "odd", "write odd.txt x\nlie other.txt", &[]);
    let clash = add(&world, "clash", "write shared.txt theirs", &[]);
    let failed = add(&world, "failed", "fail There is no key", &["--retries", "0"]);
    let nothing = add(&world, "nothing", "say Nothing to do.", &["--read-only"]);
    run_all(&world);
    world.repo.git(&["merge", "--quiet", "landed"]);
    world.repo.write("shared.txt", "ours");
    world.repo.commit("ours");
    let found = world.fleet.json(&["review"]);
    let verdict = |task: &str| review(&found, task)["verdict"].as_str().unwrap().to_owned();
    let all = [&good, &landed, &odd, &clash, &failed, &nothing].map(|task| verdict(task));
    assert_eq!(all, ["mergeable", "landed", "doubtful", "conflicting", "failed", "unchanged"], "{found}");
    let good = review(&found, &good);
    assert_eq!(
        (&good["files"], &good["file_count"], &good["branch"]),
        (&json!(["good.txt"]), &json!(1), &json!("good"))
    );
    assert_eq!((&good["tokens"], &good["micro_usd"]), (&json!(120), &json!(500_000)));
    assert_eq!(good["summary"], "It is done.");
    assert!(
        good["next"].as_array().unwrap().iter().any(|next| next == "`git merge good` merges it"),
        "{good}"
    );
    assert_eq!(review(&found, &clash)["conflicts"], json!(["shared.txt"]));
    assert!(review(&found, &odd)["remarks"][0].as_str().unwrap().contains("other.txt"));
    assert!(review(&found, &landed)["landed"].as_str().unwrap().starts_with("merged into"));
    assert!(review(&found, &failed)["next"].as_array().is_some_and(|next| !next.is_empty()));
    let text = world.fleet.ok(&["review"]);
    assert!(text.contains("VERDICT") && text.contains("cannot be merged: shared.txt"), "{text}");
    let some = world.fleet.json(&["review", "-n", "2"]);
    assert_eq!((some["reviews"].as_array().unwrap().len(), &some["more"]), (2, &json!(true)));
}

#[test]
fn only_what_ended_in_the_time_is_told() {
    let world = world();
    assert!(world.fleet.run(&["review"]).stderr.contains("nothing ended"));
    add(&world, "done", "write a.txt x", &[]);
    run_all(&world);
    assert_eq!(world.fleet.json(&["review", "--since", "1h"])["reviews"].as_array().unwrap().len(), 1);
    assert_eq!(world.fleet.json(&["review", "--since", "2099-01-01"])["reviews"], json!([]));
    for wrong in ["14:30", "soon"] {
        assert_eq!(error(&world.fleet.run(&["review", "--since", wrong, "--json"])).0, "invalid-value");
    }
}

#[test]
fn work_without_a_common_history_is_not_called_mergeable() {
    let world = world();
    let task = add(&world, "orphan", "write a.txt x", &[]);
    run_all(&world);
    let alone = world.repo.git(&["commit-tree", "orphan^{tree}", "-m", "alone"]);
    world.repo.git(&["branch", "--force", "orphan", alone.trim()]);
    let found = world.fleet.json(&["review"]);
    let found = review(&found, &task);
    assert_eq!(found["verdict"], "conflicting", "{found}");
    assert!(found["remarks"][0].as_str().unwrap().starts_with("no common history"), "{found}");
    for next in [&found["next"], &world.fleet.json(&["show", &task])["next"]] {
        let next = next.to_string();
        assert!(next.contains("git merge --allow-unrelated-histories orphan"), "{next}");
        assert!(!next.contains("git merge orphan"), "{next}");
    }
}
