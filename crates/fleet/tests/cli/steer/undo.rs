//! `fleet undo`: what was discarded, cleaned or lost comes back, and nothing is overwritten.

use std::fs;

use fleet_testkit::vault::snapshots;

use super::super::support::error;
use super::{Yard, signal};

const WORK: &str = "write a one\\ntwo\ncommit First\nwrite \"b ü\" \\t\ndelete README.md";

#[test]
fn a_discarded_branch_comes_back_to_the_byte() {
    let mut yard = Yard::new();
    let task = yard.add_staying("gone", WORK);
    yard.start_runner();
    yard.at_work(&["gone"]);
    yard.fleet.ok(&["kill", "gone", "--yes", "--discard"]);
    let run = yard.run_of(&task);
    let listing = yard.fleet.json(&["undo"]);
    let [one] = listing["snapshots"].as_array().unwrap().as_slice() else { panic!("{listing}") };
    assert_eq!(
        (one["run"].as_str(), one["branch"].as_str()),
        (Some(run.as_str()), Some("gone")),
        "{listing}"
    );
    assert_eq!((one["on_branch"].as_bool(), one["files"].as_u64()), (Some(false), Some(3)), "{listing}");
    let text = yard.fleet.ok(&["undo"]);
    assert!(text.contains(&run) && text.contains("3 files"), "{text}");
    // Everything that nothing refers to is gone after this.
    yard.repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    yard.repo.git(&["gc", "--quiet", "--prune=now"]);
    let made = yard.fleet.json(&["undo", &task]);
    assert_eq!((made["branch"].as_str(), made["restored"].as_bool()), (Some("gone"), Some(true)), "{made}");
    assert_eq!(yard.tip("gone").as_deref(), made["commit"].as_str());
    assert_eq!(
        yard.repo.git(&["log", "--format=%s", "gone"]),
        "wip: gone\nFirst\nfirst",
        "as it was, nothing on top"
    );
    assert_eq!(yard.repo.git(&["-c", "core.quotePath=false", "ls-tree", "--name-only", "gone"]), "a\nb ü");
    assert_eq!((yard.file("gone", "a"), yard.file("gone", "b ü")), ("one\ntwo".to_owned(), "\t".to_owned()));
    let again = yard.fleet.ok(&["undo", "gone"]);
    assert!(again.contains("nothing to do"), "{again}");
    assert_eq!(yard.fleet.json(&["undo"])["snapshots"][0]["on_branch"], true);
}

#[test]
fn nothing_that_is_there_is_overwritten() {
    let mut yard = Yard::new();
    let task = yard.add_staying("busy", "write a agent");
    yard.start_runner();
    yard.at_work(&["busy"]);
    yard.fleet.ok(&["kill", "busy", "--yes", "--discard"]);
    yard.repo.git(&["switch", "--quiet", "--create", "busy"]);
    yard.repo.write("mine", "mine");
    let mine = yard.repo.commit("mine");
    for name in ["busy-restored", "busy-restored-2"] {
        let made = yard.fleet.json(&["undo", &task]);
        assert_eq!(made["branch"].as_str(), Some(name), "{made}");
        assert_eq!(yard.file(name, "a"), "agent");
    }
    let taken = yard.fleet.fail(4, &["undo", &task, "--branch", "busy", "--json"]);
    assert_eq!(error(&taken).0, "branch-taken");
    assert_eq!(yard.tip("busy").as_deref(), Some(mine.as_str()));
    assert_eq!(error(&yard.fleet.fail(2, &["undo", &task, "--branch", "a..b", "--json"])).0, "invalid-value");
    yard.fleet.ok(&["undo", &task, "--branch", "mine/again"]);
    assert_eq!(yard.file("mine/again", "a"), "agent");
}

#[test]
fn earlier_states_and_lost_runs_come_back() {
    let mut yard = Yard::new();
    yard.fleet = yard.fleet.env("FLEET_WORKSPACES_SNAPSHOT_EVERY", "1s");
    let (one, two) = (yard.sign("one"), yard.sign("two"));
    let script = format!(
        "write a early\ntouch {}\nwait-for {}\nwrite a late\ndelete README.md",
        one.display(),
        two.display()
    );
    let task = yard.add_staying("lost", &script);
    yard.start_runner();
    fleet_testkit::wait_until(super::SOON, "a first snapshot", || {
        one.exists() && !snapshots(yard.fleet.home()).is_empty()
    });
    fs::write(two, "").unwrap();
    yard.at_work(&["lost"]);
    signal(yard.keeper(&task), "-KILL");
    fleet_testkit::wait_until(super::SOON, "somebody to tidy up", || {
        yard.marks() == 0 || yard.task(&task)["attempts"] != 1
    });
    yard.stop_runner();
    yard.fleet.ok(&["stop", "--agents"]);
    let first = yard.task(&task)["runs"][0]["id"].as_str().unwrap().to_owned();
    let made = yard.fleet.json(&["undo", &first, "--snapshot", "1", "--branch", "early"]);
    assert_eq!(made["snapshot"], 1);
    assert_eq!(yard.file("early", "a"), "early");
    yard.fleet.ok(&["undo", &first, "--branch", "late"]);
    assert_eq!(yard.file("late", "a"), "late");
    assert_eq!(yard.repo.git(&["ls-tree", "--name-only", "late"]), "a");
    let listing = yard.fleet.json(&["undo", &first, "--list"]);
    let numbers: Vec<u64> =
        listing["snapshots"].as_array().unwrap().iter().map(|one| one["number"].as_u64().unwrap()).collect();
    assert!(numbers.len() > 1 && numbers.is_sorted_by(|a, b| a > b), "{listing}");
    let missing = yard.fleet.fail(3, &["undo", &first, "--snapshot", "999", "--json"]);
    assert_eq!(error(&missing).0, "snapshot-not-found");
    // A new store knows nothing, the vault everything.
    let other = yard.fleet.env("FLEET_STORE", "sqlite:other.db");
    let made = other.json(&["undo", &first[..10]]);
    assert_eq!(made["branch"], format!("fleet/{first}"), "{made}");
    assert_eq!(yard.file(&format!("fleet/{first}"), "a"), "late");
}

#[test]
fn what_is_not_there_is_told() {
    let yard = Yard::new();
    assert!(yard.fleet.ok(&["undo"]).contains("no snapshots"));
    assert_eq!(yard.fleet.json(&["undo"])["snapshots"].as_array().unwrap().len(), 0);
    let queued = yard.add("never", "hang");
    for id in ["nothing", "r0zzzzz", &queued, "", "*", "--"] {
        let failed = yard.fleet.run(&["undo", "--json", "--", id]);
        assert_eq!((failed.code, error(&failed).0.as_str()), (3, "run-not-found"), "{id}");
    }
    yard.fleet.ok(&["kill", "never", "--yes"]);
    for id in ["never", &queued] {
        let (_, message, hints) = error(&yard.fleet.fail(3, &["undo", id, "--json"]));
        assert_eq!(message, format!("task {queued} was never started: it has no snapshots"));
        assert!(hints.contains("`fleet undo`"), "{hints}");
    }
    yard.add("empty", "say nothing");
    yard.finish_all();
    let failed = yard.fleet.fail(3, &["undo", "empty", "--json"]);
    assert_eq!(error(&failed).0, "snapshot-not-found");
    assert_eq!(yard.fleet.run(&["undo", "--branch", "x"]).code, 2);
    let elsewhere = yard.fleet.cwd(yard.fleet.user_home()).fail(3, &["undo", "--json"]);
    assert_eq!(error(&elsewhere).0, "not-a-repository");
}
