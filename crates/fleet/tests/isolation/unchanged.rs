//! The user's checkout and `.git` are what they were, whatever agents do in their workspaces.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::stage::{Stage, everything};

/// What a run may add to the user's repository: its branch, and what it borrows.
fn is_given(path: &Path, branch: &str) -> bool {
    let given =
        [".git/objects".to_owned(), ".git/refs/fleet/held".to_owned(), format!(".git/refs/heads/{branch}")];
    given.iter().any(|given| path.starts_with(given))
}

fn seen(stage: &Stage, branch: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = everything(stage.repo.path());
    all.retain(|path, _| !is_given(path, branch));
    all
}

#[test]
fn nothing_but_the_branch_is_added() {
    let stage = Stage::new();
    stage.repo.write("uncommitted.txt", "mine\n");
    stage.repo.write("a.txt", "changed by the user\n");
    stage.repo.git(&["stash"]);
    stage.repo.git(&["tag", "v1"]);
    stage.repo.git(&["branch", "mine"]);
    let objects = everything(&stage.repo.path().join(".git/objects"));
    let before = seen(&stage, "feature");
    stage.run(
        "feature",
        "git checkout -qb other; echo 1 > 1.txt; git add .; git commit -qm 1; git stash list
         echo s > s.txt; git add s.txt; git stash -q; git tag mine-too; git branch -D mine; git branch -f main HEAD
         git checkout -q feature; git merge -q other; git gc -q --prune=now; git worktree add -q ../extra -b extra
         git worktree remove ../extra; git pack-refs --all; git reflog expire --expire=now --all; git config user.name evil
         git update-ref refs/fleet/snapshots/x/1 HEAD; git update-ref refs/fleet/held/x HEAD; echo left > left.txt",
    );
    assert_eq!(stage.content("feature", "left.txt"), "left");
    assert_eq!(stage.content("feature", "1.txt"), "1");
    let after = seen(&stage, "feature");
    let changed: Vec<_> = after.iter().filter(|(path, content)| before.get(*path) != Some(content)).collect();
    let gone: Vec<_> = before.keys().filter(|path| !after.contains_key(*path)).collect();
    assert!(
        changed.is_empty() && gone.is_empty(),
        "{:?}, {gone:?}",
        changed.iter().map(|(path, _)| path).collect::<Vec<_>>()
    );
    let still = everything(&stage.repo.path().join(".git/objects"));
    assert!(objects.iter().all(|(path, content)| still.get(path) == Some(content)), "objects only come");
    assert!(
        !still.keys().any(|path| path.extension().is_some_and(|end| end == "keep")),
        "{:?}",
        still.keys()
    );
    assert_eq!(stage.repo.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(stage.repo.git(&["stash", "list"]).lines().count(), 1, "the user's own");
    fleet_testkit::vault::assert_only_branches(&stage.repo);
}

#[test]
fn after_many_runs_there_are_branches_and_held_commits_and_nothing_else() {
    let stage = Stage::new();
    stage.script("echo $RANDOM > work-$RANDOM.txt; git add .; git commit -qm work; echo more > more.txt; git stash -qu");
    for number in 0..6 {
        let branch = format!("b{number}");
        stage.fleet.ok(&["task", "add", "Task", "--agent", "script", "--branch", &branch, "--retries", "0"]);
    }
    stage.fleet.env("FLEET_RUNNER_SLOTS", "3").ok(&["run", "--until-idle"]);
    let refs = stage.repo.git(&["for-each-ref", "--format=%(refname)"]);
    let is_usual = |name: &str| name.starts_with("refs/heads/") || name.starts_with("refs/fleet/held/");
    assert!(refs.lines().all(is_usual), "{refs}");
    assert_eq!(refs.lines().filter(|name| name.starts_with("refs/fleet/")).count(), 1, "one base: {refs}");
    assert_eq!(stage.repo.git(&["log", "--all", "--format=%s"]).matches("work").count(), 6);
    assert_eq!(stage.repo.git(&["stash", "list"]), "");
    let mirror = tempfile::tempdir().unwrap();
    stage.repo.git(&["init", "-q", "--bare", mirror.path().to_str().unwrap()]);
    let pushed =
        stage.repo.git(&["push", "--mirror", "--dry-run", "--porcelain", mirror.path().to_str().unwrap()]);
    let is_usual = |line: &str| line.contains("refs/heads/") || line.contains("refs/fleet/held/");
    assert!(pushed.lines().filter(|line| line.contains("refs/")).all(is_usual), "{pushed}");
}
