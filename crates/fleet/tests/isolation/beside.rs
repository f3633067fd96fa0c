//! The user's own git, at work beside agents.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fleet_testkit::user::Housekeeping;

use super::stage::Stage;

/// Runs agents beside the user for about so long, and looks whether everything is there.
fn agents_beside_a_user(span: Duration, slots: &str) {
    let stage = Stage::new();
    stage.script(
        "for i in 1 2 3; do echo $RANDOM > $i.txt; git add .; git commit -qm $i; sleep 0.3; done; echo left > left.txt",
    );
    let fleet = stage.fleet.env("FLEET_RUNNER_SLOTS", slots);
    let user = Housekeeping::begin(stage.repo.path());
    let (mut branches, until) = (Vec::new(), Instant::now() + span);
    while Instant::now() < until {
        for _ in 0..slots.parse().unwrap() {
            let branch = format!("agent-{}", branches.len());
            stage.fleet.ok(&["task", "add", "Task", "--agent", "script", "--branch", &branch]);
            branches.push(branch);
        }
        fleet.ok(&["run", "--until-idle"]);
    }
    assert!(user.end() > 1, "the user did something");
    for branch in &branches {
        assert_eq!(stage.state(branch), "succeeded", "{branch}");
        assert_eq!(stage.content(branch, "left.txt"), "left", "{branch}: {}", stage.remarks(branch));
        assert!(!stage.content(branch, "3.txt").is_empty(), "{branch}");
    }
    stage.check_repositories();
    let packs = fs::read_dir(stage.repo.path().join(".git/objects/pack")).unwrap();
    let is_kept = |path: &Path| path.extension().is_some_and(|end| end == "keep");
    assert_eq!(packs.flatten().filter(|entry| is_kept(&entry.path())).count(), 0);
}

#[test]
fn heavy_a_user_who_prunes_and_rebases_takes_nothing_away() {
    agents_beside_a_user(Duration::from_secs(10), "4");
}

#[test]
#[ignore = "ten minutes; FLEET_TEST_BINARY names a release binary"]
fn heavy_ten_minutes_beside_fifty_agents() {
    agents_beside_a_user(Duration::from_mins(10), "50");
}

#[test]
fn a_branch_that_the_user_touched_is_left_alone_and_the_work_is_kept() {
    let stage = Stage::new();
    let (ready, go) = (stage.path("ready"), stage.path("go"));
    let wait = format!("touch {}; while [ ! -e {} ]; do sleep 0.05; done", ready.display(), go.display());
    for (branch, touch) in [
        ("moved", &["branch", "-f", "moved", "main"][..]),
        ("deleted", &["branch", "-D", "deleted"]),
        ("looked-at", &["checkout", "-q", "looked-at"]),
    ] {
        stage.script(&format!("echo 1 > 1.txt; git add .; git commit -qm one; {wait}; echo 2 > 2.txt"));
        stage.fleet.ok(&["task", "add", "Task", "--agent", "script", "--branch", branch, "--retries", "0"]);
        let mut runner = stage.fleet.command(&["run", "--until-idle"]);
        let mut runner = runner.stdout(Stdio::null()).spawn().unwrap();
        let exists = || !stage.content(branch, "1.txt").is_empty();
        let what = format!("{branch} appears");
        fleet_testkit::wait_until(Duration::from_secs(20), &what, || ready.exists() && exists());
        stage.repo.git(touch);
        let tip = fleet_testkit::repo::try_git_at(stage.repo.path(), &["rev-parse", branch]);
        fs::write(&go, "").unwrap();
        assert!(runner.wait().unwrap().success());
        let after = fleet_testkit::repo::try_git_at(stage.repo.path(), &["rev-parse", branch]);
        assert_eq!(after, tip, "{branch} is as the user left it");
        assert!(stage.remarks(branch).contains("left alone"), "{}", stage.remarks(branch));
        stage.fleet.ok(&["undo", branch, "--branch", &format!("{branch}-work")]);
        assert_eq!(stage.content(&format!("{branch}-work"), "2.txt"), "2");
        let _ = (fs::remove_file(&ready), fs::remove_file(&go));
    }
}

#[test]
fn a_repository_that_moves_keeps_its_snapshots() {
    let stage = Stage::new();
    stage.run("feature", "echo work > work.txt");
    stage.repo.git(&["branch", "-D", "feature"]);
    let moved = stage.path("elsewhere");
    let copied = Command::new("cp").arg("-a").arg(stage.repo.path()).arg(&moved).status().unwrap();
    assert!(copied.success());
    fs::rename(stage.repo.path().join(".git"), stage.path("gone")).unwrap();
    let run = stage.fleet.json(&["list", "--all", "-A"])["runs"][0]["id"].as_str().unwrap().to_owned();
    stage.fleet.cwd(&moved).ok(&["undo", &run, "--branch", "back"]);
    let shown = fleet_testkit::repo::try_git_at(&moved, &["show", "back:work.txt"]);
    assert_eq!(shown.as_deref(), Some("work"));
}
