//! Runs of another home that shares the store, as another machine would: its processes cannot be reached from here.

use super::super::support::fleet;
use super::{Yard, signal};
use fleet_testkit::fleet::Fleet;

/// A yard with a short lease, and somebody else who shares its store and its repository, but not its home.
fn two_homes() -> (Yard, Fleet) {
    let mut yard = Yard::new();
    let store = format!("sqlite:{}", yard.sign("shared.db").display());
    yard.fleet = yard.fleet.env("FLEET_STORE", &store).env("FLEET_RUNNER_LEASE_SECONDS", "2");
    let other =
        fleet().cwd(yard.repo.path()).env("FLEET_STORE", &store).env("FLEET_RUNNER_LEASE_SECONDS", "2");
    (yard, other)
}

#[test]
fn a_keeper_elsewhere_hears_of_it_at_its_next_renewal() {
    let (mut yard, other) = two_homes();
    let task = yard.add_staying("far", "write a x");
    yard.start_runner();
    yard.at_work(&["far"]);
    let listed = other.json(&["list"])["runs"][0]["elsewhere"].to_string();
    assert!(listed.contains("another home"), "{listed}");
    assert!(yard.fleet.json(&["list"])["runs"][0]["elsewhere"].is_null());
    let why = other.json(&["why", &task])["advice"].to_string();
    assert!(why.contains("(another home), `fleet logs"), "{why}");
    let refused = other.run(&["diff", "far"]).stderr;
    assert!(refused.contains("another home") && !refused.contains("not here"), "{refused}");
    let killed = other.json(&["kill", "far", "--yes"]);
    assert_eq!(killed["killed"][0]["outcome"], "stopped", "{killed}");
    assert_eq!(yard.task(&task)["state"], "cancelled");
    assert_eq!(yard.file("far", "a"), "x");
}

#[test]
fn a_keeper_elsewhere_that_is_gone_is_not_waited_for() {
    let (mut yard, other) = two_homes();
    let task = yard.add_staying("lost", "write a x");
    yard.start_runner();
    yard.at_work(&["lost"]);
    yard.stop_runner();
    signal(yard.keeper(&task), "-KILL");
    let cancelled = other.json(&["task", "cancel", &task]);
    assert_eq!(cancelled["tasks"][0]["state"], "cancelled", "{cancelled}");
    assert_eq!(yard.marks(), 1, "only its own home can tidy up");
    yard.finish_all();
    assert_eq!(yard.marks(), 0);
    yard.fleet.ok(&["undo", &task, "--branch", "saved"]);
    assert_eq!(yard.file("saved", "a"), "x", "and has saved the work");
}

#[test]
fn nobody_repairs_a_run_that_works_elsewhere() {
    let (mut yard, other) = two_homes();
    let task = yard.add_staying("far", "write a x");
    yard.start_runner();
    yard.at_work(&["far"]);
    let run = yard.task(&task)["run"].as_str().map(ToOwned::to_owned);
    let run = run.unwrap_or_else(|| yard.fleet.json(&["show", "far"])["id"].as_str().unwrap().to_owned());
    other.run(&["repair", &run]);
    assert_eq!(yard.fleet.json(&["show", "far"])["state"], "running");
    yard.fleet.ok(&["kill", "far", "--yes"]);
}

#[test]
fn another_repository_at_the_same_path_does_not_get_the_tasks_of_this_one() {
    let (yard, other) = two_homes();
    let task = yard.add("work", "write a x");
    let mine = yard.repo.path().join(".git");
    std::fs::rename(&mine, yard.repo.path().join("mine.git")).unwrap();
    for arguments in [
        &["-c", "init.defaultBranch=main", "init", "--quiet"][..],
        &["-c", "user.name=B", "-c", "user.email=b@b", "commit", "--quiet", "--allow-empty", "-m", "other"],
    ] {
        yard.repo.git(arguments);
    }
    other.ok(&["run", "--until-idle"]);
    let shown = yard.task(&task);
    assert_eq!(
        (&shown["status"], &shown["attempts"], &shown["failures"]),
        (&"ready".into(), &0.into(), &0.into())
    );
    assert_eq!(
        other.json(&["list", "--all"])["runs"].as_array().unwrap().len(),
        0,
        "it is nobody's project here"
    );
    let own = other.json(&["task", "add", "own", "--agent", "demo"]);
    assert_ne!(own["project"], shown["project"]);

    let why = yard.fleet.json(&["why", &task]);
    assert!(why["next"].as_str().unwrap().contains("no runner is up"), "{why}");
    yard.fleet.ok(&["run", "--until-idle"]);
    assert_eq!(yard.task(&task)["attempts"], 0, "and it is not here any more, either");
    std::fs::remove_dir_all(&mine).unwrap();
    std::fs::rename(yard.repo.path().join("mine.git"), &mine).unwrap();
    yard.finish_all();
    assert_eq!((yard.task(&task)["state"].clone(), yard.file("work", "a")), ("done".into(), "x".to_owned()));
}

#[test]
fn a_clone_at_another_path_works_on_the_same_tasks_and_its_work_is_told_to_be_there() {
    let (yard, other) = two_homes();
    let task = yard.add("work", "write a x");
    let folder = tempfile::tempdir().unwrap();
    let clone = folder.path().join(yard.repo.path().file_name().unwrap());
    yard.repo.git(&["clone", "--quiet", ".", clone.to_str().unwrap()]);
    // What has the name of its branch here is somebody else's.
    yard.repo.git(&["branch", "work"]);
    let there = other.cwd(&clone).env("FLEET_AUTOSTART", "false");
    there.ok(&["run", "--until-idle"]);
    assert_eq!(yard.task(&task)["state"], "done");
    assert!(there.ok(&["diff", &task]).contains("+x"));
    assert_eq!(there.json(&["review"])["reviews"][0]["verdict"], "mergeable");

    for arguments in [["diff", &task], ["undo", &task], ["open", &task]] {
        let refused = yard.fleet.run(&arguments);
        assert_eq!(refused.code, 3, "{refused:?}");
        assert!(refused.stderr.contains("worked on host") && refused.stderr.contains("work"), "{refused:?}");
    }
    let review = yard.fleet.json(&["review"])["reviews"][0].clone();
    assert_eq!((&review["verdict"], &review["branch"]), (&"elsewhere".into(), &"work".into()), "{review}");
    assert!(review["next"][0].as_str().unwrap().contains("on host"), "{review}");
    let clean = yard.fleet.json(&["clean", "--yes"]);
    assert!(clean["kept"][0]["why"].as_str().unwrap().contains("on host"), "{clean}");
    assert!(yard.has_branch("work"), "{clean}");
    let conflicts = yard.fleet.json(&["conflicts"]);
    assert!(conflicts["unseen"][0]["why"].as_str().unwrap().contains("on host"), "{conflicts}");
}
