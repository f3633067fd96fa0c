//! `fleet conflicts`, with real branches of the demo agent.

use serde_json::{Value, json};

use super::{Live, add, run_all, world};
use crate::support::{World, error};

fn of_kind<'a>(found: &'a Value, kind: &str) -> Vec<&'a Value> {
    found["conflicts"].as_array().unwrap().iter().filter(|conflict| conflict["kind"] == kind).collect()
}

fn branches(conflict: &Value) -> Vec<&str> {
    let mut names: Vec<&str> =
        conflict["tasks"].as_array().unwrap().iter().map(|side| side["branch"].as_str().unwrap()).collect();
    names.sort_unstable();
    names
}

#[test]
fn branches_that_cannot_be_merged_are_told_before_anybody_tries() {
    let world = world();
    world.repo.write("shared.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    world.repo.commit("a file");
    let one = add(&world, "one", "write same.txt one\nwrite a/one.txt x", &[]);
    let two = add(&world, "two", "write same.txt two\nwrite b/two.txt x", &[]);
    add(&world, "apart", "write c/three.txt x", &[]);
    run_all(&world);
    let before = world.repo.git(&["for-each-ref"]);
    let found = world.fleet.json(&["conflicts"]);
    assert_eq!(found["conflicts"].as_array().unwrap().len(), 1, "{found}");
    let clash = &found["conflicts"][0];
    assert_eq!((clash["kind"].as_str(), branches(clash)), (Some("merge"), vec!["one", "two"]));
    assert_eq!((&clash["files"], &clash["file_count"]), (&json!(["same.txt"]), &json!(1)));
    let crowded = &found["files"][0];
    assert_eq!(crowded["path"], "same.txt");
    assert_eq!(crowded["tasks"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&found["looked_at"], &found["unchecked"], &found["more"]),
        (&json!(3), &json!(0), &json!(false))
    );
    assert_eq!(world.repo.git(&["for-each-ref"]), before, "nothing was made");
    let text = world.fleet.ok(&["conflicts"]);
    assert!(text.contains("same.txt") && text.contains(&one) && text.contains(&two), "{text}");
    // Once one has landed, the other is in the way of what is there.
    world.repo.git(&["merge", "--quiet", "one"]);
    let found = world.fleet.json(&["conflicts"]);
    let clash = &found["conflicts"][0];
    assert_eq!((&clash["with"], branches(clash)), (&json!("HEAD"), vec!["two"]));
    assert_eq!(found["conflicts"].as_array().unwrap().len(), 1, "{found}");
    let landed = world.fleet.run(&["conflicts", &one, "--json"]);
    assert_eq!(error(&landed).0, "nothing-matched");
}

#[test]
fn the_same_files_and_claims_are_told_too() {
    let world = world();
    world.repo.write("shared.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    world.repo.commit("a file");
    add(&world, "top", "write shared.txt 0\\n1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n9", &[]);
    add(&world, "end", "append shared.txt 10", &[]);
    run_all(&world);
    let claim = world.fleet.ok(&["task", "add", "-q", "Claims it", "--scope", "*.txt", "--hold"]);
    let other = world.fleet.ok(&["task", "add", "-q", "Claims more", "--scope", "shared.*", "--hold"]);
    let found = world.fleet.json(&["conflicts"]);
    assert_eq!(of_kind(&found, "merge"), Vec::<&Value>::new());
    let both = of_kind(&found, "files");
    assert_eq!((both.len(), branches(both[0])), (1, vec!["end", "top"]), "{found}");
    let claims = of_kind(&found, "scope");
    assert_eq!(claims.len(), 5, "each with each branch, and with each other: {found}");
    assert!(claims.iter().any(|conflict| conflict["scopes"] == json!([["*.txt", "shared.*"]])), "{found}");
    let advice =
        |from: &str| claims.iter().filter(|claim| claim["advice"].as_str().unwrap().contains(from)).count();
    let advised = ["decides which comes first", "or land end first", "or land top first"].map(advice);
    assert_eq!(advised, [1, 2, 2], "{found}");
    let narrowed = world.fleet.json(&["conflicts", claim.trim_end()]);
    assert_eq!(of_kind(&narrowed, "scope").len(), 3);
    assert_eq!(of_kind(&narrowed, "files").len(), 0);
    world.fleet.ok(&["task", "dep", "add", other.trim_end(), claim.trim_end()]);
    assert_eq!(
        of_kind(&world.fleet.json(&["conflicts"]), "scope").len(),
        4,
        "those two come one after the other"
    );
}

#[test]
fn work_in_progress_counts_as_it_is() {
    let world = world();
    add(&world, "before", "write same.txt one", &[]);
    run_all(&world);
    let live = Live::start(&world, "now", "write same.txt two");
    let found = world.fleet.json(&["conflicts"]);
    let clashes = of_kind(&found, "merge");
    assert_eq!((clashes.len(), branches(clashes[0])), (1, vec!["before", "now"]), "{found}");
    assert_eq!(found["unseen"], json!([]));
    live.end();
}

#[test]
fn a_fresh_repository_has_no_conflicts() {
    let world = World::sqlite();
    assert_eq!(world.fleet.ok(&["conflicts"]).trim_end(), "no conflicts among 0 tasks");
}
