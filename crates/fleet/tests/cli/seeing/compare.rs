//! `fleet compare`

use super::super::support::error;
use super::{add, run_all, world};

#[test]
fn two_are_compared_in_numbers_and_line_by_line() {
    let world = world();
    world.fleet.ok(&["config", "set", "workspaces.checks", "test -f a.txt"]);
    add(&world, "one", "write a.txt red\nwrite same.txt x", &[]);
    add(&world, "two", "write a.txt blue\nwrite same.txt x\nwrite b.txt more", &[]);
    add(&world, "three", "write other.txt x", &["--check-retries", "0"]);
    run_all(&world);
    let text = world.fleet.ok(&["compare", "one", "two"]);
    for part in ["one", "two", "+2 -0", "+3 -0", "1 passed", "-red", "+blue", "+more"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(!text.contains("same.txt"), "what both have is no difference:\n{text}");
    assert!(!text.contains("fleet keep"), "they are not of one fan-out:\n{text}");
    let stat = world.fleet.ok(&["compare", "one", "two", "--stat"]);
    assert!(stat.contains("2 files changed") && !stat.contains("+blue"), "{stat}");

    let answer = world.fleet.json(&["compare", "one", "two", "three"]);
    let totals = |at: usize| answer["runs"][at]["changes"].clone();
    assert_eq!(totals(1), serde_json::json!({ "commits": 1, "files": 3, "added": 3, "deleted": 0 }));
    assert_eq!(answer["runs"][2]["checks_failed"], 1, "{answer}");
    assert!(answer["between"].is_null(), "three have no difference between two");
    for same in [&["compare", "one", "--json"][..], &["compare", "one", "one", "--json"]] {
        assert_eq!(error(&world.fleet.fail(3, same)).0, "nothing-matched");
    }
}

#[test]
fn one_alone_stands_for_its_fan_out() {
    let world = world();
    let prompt = "Do it\n\n```demo\nwrite a.txt x\n```";
    world.fleet.ok(&["fanout", "3", "try", "-p", prompt, "-a", "demo", "--detach"]);
    run_all(&world);
    let answer = world.fleet.json(&["compare", "try-B"]);
    let mut branches: Vec<&str> =
        answer["runs"].as_array().unwrap().iter().map(|run| run["branch"].as_str().unwrap()).collect();
    assert_eq!(branches[0], "try-B", "what was named comes first");
    branches.sort_unstable();
    assert_eq!(branches, ["try-A", "try-B", "try-C"]);
}
