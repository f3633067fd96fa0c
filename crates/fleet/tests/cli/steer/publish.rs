//! What the user's repository gets of a run, and when.

use std::fs;

use fleet_testkit::vault::{assert_only_branches, snapshots};
use fleet_testkit::wait_until;

use super::{SOON, Yard};

fn subjects(yard: &Yard, branch: &str) -> String {
    if yard.has_branch(branch) { yard.repo.git(&["log", "--format=%s", branch]) } else { String::new() }
}

#[test]
fn a_branch_appears_with_the_first_commit_and_grows_while_its_agent_is_at_work() {
    let mut yard = Yard::new();
    let sign = |name: &str| yard.sign(name).display().to_string();
    let script = format!(
        "write a one\ntouch {}\nwait-for {}\ncommit First\nwait-for {}\nwrite a two\ncommit Second\nwrite b loose",
        sign("begun"),
        sign("commit"),
        sign("go-on"),
    );
    let task = yard.add_staying("live", &script);
    yard.start_runner();
    wait_until(SOON, "an agent at work", || yard.sign("begun").exists());
    assert!(!yard.has_branch("live"), "nothing is committed yet");
    fs::write(yard.sign("commit"), "").unwrap();
    wait_until(SOON, "the first commit", || subjects(&yard, "live") == "First\nfirst");
    assert_eq!(yard.task(&task)["state"], "running");
    fs::write(yard.sign("go-on"), "").unwrap();
    wait_until(SOON, "the second commit", || subjects(&yard, "live") == "Second\nFirst\nfirst");
    yard.at_work(&["live"]);
    assert_eq!(yard.task(&task)["state"], "running");
    assert_only_branches(&yard.repo);
    yard.fleet.ok(&["kill", "live", "--yes", "--wait", "1m"]);
    assert_eq!(subjects(&yard, "live"), "wip: live\nSecond\nFirst\nfirst");
    assert_eq!((yard.file("live", "a"), yard.file("live", "b")), ("two".to_owned(), "loose".to_owned()));
}

#[test]
fn a_run_that_changes_nothing_leaves_no_branch_and_no_snapshot() {
    let yard = Yard::new();
    yard.add("looked", "say nothing to do");
    yard.finish_all();
    assert!(!yard.has_branch("looked"));
    assert_eq!(snapshots(yard.fleet.home()), [""; 0]);
    assert_only_branches(&yard.repo);
}

#[test]
fn a_branch_that_the_user_works_on_is_left_alone_and_the_run_says_so() {
    let mut yard = Yard::new();
    let go = yard.sign("go").display().to_string();
    let task = yard.add("mine", &format!("write a one\ncommit First\nwait-for {go}\nwrite b two"));
    yard.start_runner();
    wait_until(SOON, "the branch", || yard.has_branch("mine"));
    yard.repo.git(&["switch", "--quiet", "mine"]);
    let tip = yard.tip("mine");
    fs::write(go, "").unwrap();
    wait_until(SOON, "the end", || yard.task(&task)["state"] == "done");
    assert_eq!((yard.tip("mine"), yard.repo.git(&["status", "--porcelain"])), (tip, String::new()));
    let run = yard.run_of(&task);
    let shown = yard.fleet.ok(&["show", "mine"]);
    for part in ["the branch mine was left alone (it is checked out at", &format!("`fleet undo {run}`")] {
        assert!(shown.contains(part), "{part} in\n{shown}");
    }
    let made = yard.fleet.json(&["undo", &run]);
    assert_eq!((made["branch"].as_str(), made["restored"].as_bool()), (Some("mine-restored"), Some(true)));
    assert_eq!(subjects(&yard, "mine-restored"), "mine\nFirst\nfirst");
    assert_eq!(yard.file("mine-restored", "b"), "two");
}

#[test]
fn what_the_vault_keeps_outlives_everything_that_the_user_throws_away() {
    let mut yard = Yard::new();
    yard.add("one", "write a one\ncommit First\nwrite b left");
    yard.finish_all();
    // The same content again: git need not write what the user's repository has already.
    yard.add("two", "write a one\nwrite b left\nwrite c more");
    yard.add_staying("three", "write a one\ncommit Same\nwrite d late");
    yard.start_runner();
    yard.at_work(&["three"]);
    yard.fleet.ok(&["kill", "three", "--yes", "--wait", "1m"]);
    wait_until(SOON, "the end of all", || yard.marks() == 0 && yard.has_branch("two"));
    yard.stop_runner();
    // Even the history that everything began with goes.
    yard.repo.git(&["switch", "--quiet", "--orphan", "new"]);
    yard.repo.commit("another beginning");
    yard.repo.git(&["branch", "--quiet", "-D", "main", "one", "two", "three"]);
    for _ in 0..2 {
        yard.repo.git(&["reflog", "expire", "--expire=now", "--all"]);
        yard.repo.git(&["gc", "--quiet", "--prune=now"]);
        yard.fleet.vault().git(&["fsck", "--full", "--strict"]);
        yard.fleet.ok(&["gc", "--older-than", "0s", "--yes"]);
    }
    for (branch, file, text) in [("one", "b", "left"), ("two", "c", "more"), ("three", "d", "late")] {
        yard.fleet.ok(&["undo", branch]);
        assert_eq!((yard.file(branch, "a"), yard.file(branch, file)), ("one".to_owned(), text.to_owned()));
    }
    yard.repo.git(&["fsck", "--full", "--strict"]);
}

#[test]
fn a_snapshot_of_an_earlier_version_is_found_and_moves_to_the_vault() {
    const RUN: &str = "r0smmyvymnt4z7j";
    let yard = Yard::new();
    let head = yard.repo.git(&["rev-parse", "HEAD"]);
    yard.repo.write("work.txt", "of long ago\n");
    yard.repo.git(&["add", "--all"]);
    let tree = yard.repo.git(&["write-tree"]);
    yard.repo.git(&["rm", "--quiet", "--force", "work.txt"]);
    let message = format!(
        "snapshot: at the end\n\nrun: {RUN}\nat: 1750000000\nhead: {head}\nstaged: none\nnested: none\n"
    );
    let commit = yard.repo.git(&["commit-tree", &tree, "-p", &head, "-m", &message]);
    yard.repo.git(&["update-ref", &format!("refs/fleet/snapshots/{RUN}/1"), &commit]);
    let listing = yard.fleet.json(&["undo"]);
    assert_eq!(
        (&listing["snapshots"][0]["run"], &listing["snapshots"][0]["commit"]),
        (&RUN.into(), &commit.into()),
        "{listing}"
    );
    assert_only_branches(&yard.repo);
    assert_eq!(snapshots(yard.fleet.home()), [format!("refs/fleet/snapshots/{RUN}/1")]);
    yard.repo.git(&["gc", "--quiet", "--prune=now"]);
    let made = yard.fleet.json(&["undo", &RUN[..9]]);
    assert_eq!(made["branch"], format!("fleet/{RUN}"), "{made}");
    assert_eq!(yard.file(&format!("fleet/{RUN}"), "work.txt"), "of long ago");
}
