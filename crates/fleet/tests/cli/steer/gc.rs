//! `fleet gc` and `fleet disk`.

use std::fs;

use fleet_testkit::vault::assert_only_branches;
use fleet_testkit::wait_until;
use serde_json::Value;

use super::{SOON, Yard};

/// The plan as `kind: why`, sorted.
fn plan(list: &Value) -> Vec<String> {
    let items = list["removed"].as_array().unwrap().iter();
    let mut all: Vec<String> = items
        .map(|item| format!("{}: {}", item["kind"].as_str().unwrap(), item["why"].as_str().unwrap()))
        .collect();
    all.sort();
    all
}

fn snapshots(yard: &Yard, run: &str) -> usize {
    yard.fleet.vault().git(&["for-each-ref", &format!("refs/fleet/snapshots/{run}")]).lines().count()
}

#[test]
fn unlanded_work_survives_the_most_eager_gc() {
    let mut yard = Yard::new();
    let open = yard.add_staying("open", "write o x\ncommit First\nwrite o y");
    let landed = yard.add("landed", "write l x");
    yard.start_runner();
    yard.at_work(&["open"]);
    wait_until(SOON, "the other task", || yard.task(&landed)["state"] == "done");
    yard.fleet.ok(&["kill", "open", "--yes", "--discard"]);
    yard.repo.git(&["merge", "--quiet", "--no-ff", "--no-edit", "landed"]);
    let (open, landed) = (yard.run_of(&open), yard.run_of(&landed));
    assert!(snapshots(&yard, &open) > 1 && snapshots(&yard, &landed) > 0);
    assert_eq!(plan(&yard.fleet.json(&["gc"])), [""; 0], "all of it is young");
    yard.stop_runner();
    let eager = ["gc", "--older-than", "0s"];
    let found = yard.fleet.json(&eager);
    assert_eq!(
        plan(&found),
        [
            "files: their processes are gone",
            "logs: its run ended long ago",
            "logs: its run ended long ago",
            "snapshots: its work has landed",
            "snapshots: older than its last one, which stays",
        ],
        "{found}"
    );
    assert_eq!(yard.names("runs").len(), 2, "looking changes nothing");
    let shown = yard.fleet.run(&eager);
    assert!(
        shown.stdout.contains("`--yes` removes it") && shown.stdout.contains("its work has landed"),
        "{shown:?}"
    );
    let done = yard.fleet.json(&["gc", "--older-than", "0s", "--yes"]);
    assert_eq!(
        (done["removed"].as_array().unwrap().len(), done["failed"].as_array().unwrap().len()),
        (5, 0),
        "{done}"
    );
    assert_eq!((snapshots(&yard, &open), snapshots(&yard, &landed)), (1, 0));
    wait_until(SOON, "no logs and no trash", || {
        yard.names("runs").is_empty() && yard.names("worktrees/.trash").is_empty()
    });
    assert_eq!(plan(&yard.fleet.json(&eager)), [""; 0], "a second one finds nothing");
    yard.repo.git(&["gc", "--quiet", "--prune=now"]);
    yard.fleet.ok(&["undo", "open"]);
    assert_eq!(yard.file("open", "o"), "y");
    assert_eq!(yard.repo.git(&["log", "--format=%s", "open"]), "wip: open\nFirst\nfirst");
}

#[test]
fn spare_worktrees_go_in_the_background_and_those_in_use_stay() {
    let mut yard = Yard::new();
    yard.add("one", "write a x");
    yard.add_staying("two", "write b x");
    yard.start_runner();
    yard.at_work(&["two"]);
    yard.stop_runner();
    wait_until(SOON, "a warm worktree", || yard.fleet.json(&["disk"])["projects"][0]["warm"]["count"] == 1);
    assert_eq!(plan(&yard.fleet.json(&["gc"])), ["files: their processes are gone"]);
    let small = yard.fleet.env("FLEET_WORKSPACES_POOL", "0");
    let found = plan(&small.json(&["gc"]));
    assert!(found.contains(&"worktree: more than `workspaces.pool` keeps".to_owned()), "{found:?}");
    small.ok(&["gc", "--yes"]);
    let disk = yard.fleet.json(&["disk"]);
    assert_eq!(
        (disk["projects"][0]["warm"]["count"].as_u64(), disk["projects"][0]["in_use"]["count"].as_u64()),
        (Some(0), Some(1)),
        "{disk}"
    );
    wait_until(SOON, "an empty trash", || yard.names("worktrees/.trash").is_empty());
    assert_eq!(yard.fleet.vault().admin_dirs().len(), 1, "the vault has forgotten the other");
    assert_only_branches(&yard.repo);
    let said = yard.fleet.ok(&["kill", "two", "--yes", "--wait", "1m"]);
    assert!(said.contains("its work is on two"), "{said}");
    assert_eq!(yard.file("two", "b"), "x");
}

#[test]
fn worktrees_of_a_repository_that_is_gone_are_spare() {
    let yard = Yard::new();
    yard.add("one", "write a x");
    yard.finish_all();
    fs::remove_dir_all(yard.repo.path().join(".git")).unwrap();
    let elsewhere = yard.fleet.cwd(yard.fleet.user_home());
    let disk = elsewhere.json(&["disk"]);
    assert_eq!(
        (disk["projects"][0]["exists"].as_bool(), disk["projects"][0]["snapshots"].as_u64()),
        (Some(false), None)
    );
    assert_eq!(plan(&elsewhere.json(&["gc"])), ["worktree: its repository is gone"]);
    elsewhere.ok(&["gc", "--yes"]);
    wait_until(SOON, "an empty trash", || yard.names("worktrees/.trash").is_empty());
    assert_eq!(plan(&elsewhere.json(&["gc"])), [""; 0]);
}

#[test]
fn disk_counts_what_there_is() {
    let yard = Yard::new();
    let empty = yard.fleet.json(&["disk"]);
    assert_eq!(
        (empty["projects"].as_array().unwrap().len(), empty["trash"]["count"].as_u64()),
        (0, Some(0)),
        "{empty}"
    );
    yard.add("one", "write a x");
    yard.finish_all();
    fs::create_dir_all(yard.fleet.home().join("worktrees/.trash/old")).unwrap();
    fs::write(yard.fleet.home().join("worktrees/.trash/old/big"), vec![1; 3_000_000]).unwrap();
    let disk = yard.fleet.json(&["disk"]);
    let project = &disk["projects"][0];
    assert_eq!(project["snapshots"], 1);
    for amount in [&project["warm"], &project["logs"], &disk["trash"]] {
        assert!(amount["count"] == 1 && amount["bytes"].as_u64().unwrap() > 0, "{disk}");
    }
    assert!(disk["trash"]["bytes"].as_u64().unwrap() >= 3_000_000);
    assert!(disk["store_bytes"].as_u64().unwrap() > 0);
    let said = yard.fleet.ok(&["disk"]);
    assert!(said.contains("3.0MB in 1 folder") && said.contains("total"), "{said}");
    assert_eq!(yard.fleet.run(&["gc", "--older-than", "soon"]).code, 2);
}
