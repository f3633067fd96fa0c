//! Branches that contradict each other, and an agent that is asked to bring them together.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::bench::{Bench, branch, named, stage, states};
use fleet_testkit::fleet::Output;

/// Merges what it is told to, does something about the conflict, and commits.
const AGENT: &str = r#"#!/bin/sh
commit=$(grep -o 'git merge [0-9a-f]*' | tail -n 1 | cut -c 11-)
git merge --quiet "$commit" >&2 && exit 9
RESOLVE
git commit --quiet --all --message "Bring both together" || exit 8
echo '{"summary": "I brought both together.", "status": "completed"}'
"#;

/// Two stages that write the same line, and one whose agent does this about it.
fn follow(bench: &Bench, resolve: &str) -> Output {
    let program = bench.sign("agent");
    fs::write(&program, AGENT.replace("RESOLVE", resolve)).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    bench.fleet.ok(&["config", "set", "agents.mine.program", program.to_str().unwrap()]);
    bench.fleet.ok(&["config", "set", "agents.mine.output", "lines"]);
    let mut text = stage("one", "", "write a.txt one");
    text += &stage("two", "", "write a.txt two");
    let join = "agent = 'mine'\nneeds = ['one', 'two']\nstart = 'inherit'\non_conflict = 'resolve'";
    bench.follow(&(text + &stage("join", join, "")))
}

#[test]
fn what_an_agent_resolved_has_the_work_of_both() {
    let bench = Bench::new();
    let output = follow(&bench, r"printf 'one\ntwo\n' > a.txt");
    assert_eq!(output.code, 0, "{output:?}\n{}", bench.reasons());
    let workflow = bench.newest();
    assert_eq!(states(&workflow), "one done, two done, join done");
    let joined = branch(&workflow, "join");
    assert_eq!(bench.read(&joined, "a.txt"), "one\ntwo");
    for parent in ["one", "two"] {
        bench.repo.git(&["merge-base", "--is-ancestor", &branch(&workflow, parent), &joined]);
    }
    let result = bench.fleet.json(&["workflow", "result", "w"]);
    assert_eq!(result["branches"], serde_json::json!([joined]), "one branch has it all");
}

#[test]
fn what_still_has_the_marks_of_a_conflict_is_not_resolved() {
    let bench = Bench::new();
    let output = follow(&bench, ":");
    assert_eq!(output.code, 8, "{output:?}");
    let workflow = bench.newest();
    assert_eq!(states(&workflow), "one done, two done, join failed");
    let why = named(&workflow, "join")["why"].as_str().unwrap();
    assert!(why.contains("between conflict markers in a.txt"), "{why}");
}
