//! A keeper that dies while its run starts from the work of other tasks.

use serde_json::json;

use super::processes::kill;
use super::stage::{Stage, branch_of};

/// Two tasks, and one after both whose keeper is killed when it comes to this point.
#[track_caller]
fn killed_at(point: &str) {
    let stage = Stage::new();
    let (one, two) = (stage.add("write a.txt one"), stage.add("write b.txt two"));
    let runner = stage.run(None);
    stage.wait_status(&one, "done");
    stage.wait_status(&two, "done");
    drop(runner);
    let task = json!({
        "title": "After both",
        "agent": "demo",
        "description": "```demo\nwrite c.txt three\n```",
        "after": [one, two],
        "retry": { "retries": 9, "backoff_seconds": 0 },
    });
    let added = stage.fleet.stdin(format!("{task}\n")).json(&["task", "import", "-"]);
    let task = added["ids"][0].as_str().unwrap();
    let _runner = stage.run(Some(point));
    kill(stage.wait_held(point));
    stage.let_go(point);
    stage.wait_status(task, "done");
    let shown = stage.task(task);
    assert_eq!(shown["attempts"], 2, "{shown}");
    let files = stage.repo.git(&["ls-tree", "--name-only", &branch_of(task)]);
    assert_eq!(files.lines().collect::<Vec<_>>(), ["README.md", "a.txt", "b.txt", "c.txt"]);
    let base = shown["runs"][1]["base"].as_str().unwrap();
    let parents = stage.repo.git(&["log", "-1", "--format=%P", base]);
    let tips = [one, two].map(|task| stage.repo.git(&["rev-parse", &branch_of(&task)]));
    assert_eq!(parents, tips.join(" "), "it starts from one merge");
    assert_eq!(stage.repo.git(&["rev-list", "--count", &format!("{base}..{}", branch_of(task))]), "1");
}

#[test]
fn killed_when_the_work_of_others_is_merged() {
    killed_at("keeper-looked");
}

#[test]
fn killed_when_the_workspace_has_the_merge() {
    killed_at("keeper-opened");
}
