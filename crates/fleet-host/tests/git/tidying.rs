//! What is in the vault stays whole, whatever is given up, pruned, moved or lost.

use std::fs;
use std::path::Path;

use crate::sandbox::{Sandbox, git, try_git};
use crate::support::{Run, area_of, commit_all, oid, opened, project, text, write};
use fleet_host::git::{
    GitError, Holds, KeepCommits, Merge, Oid, keep_commit, list_snapshots, merge_commits, open_vault,
    tidy_vault,
};

fn hookless(repo: &Path, arguments: &[&str]) {
    git(repo, &[&["-c", "core.hooksPath=/dev/null"], arguments].concat());
}

/// Four more commits on `main`, each with a file.
fn more_commits(repo: &Path) {
    for name in ["one", "two", "three", "four"] {
        write(repo, name, name);
        commit_all(repo, name);
    }
}

/// The user throws all of their history away.
fn forget_everything(repo: &Path) {
    hookless(repo, &["switch", "--quiet", "--orphan", "fresh"]);
    hookless(repo, &["commit", "--quiet", "--allow-empty", "--message=fresh"]);
    for branch in text(repo, &["for-each-ref", "--format=%(refname:short)", "refs/heads"]).lines() {
        if branch != "fresh" {
            hookless(repo, &["branch", "--quiet", "-D", branch]);
        }
    }
    prune(repo);
}

fn prune(repo: &Path) {
    git(repo, &["reflog", "expire", "--expire=now", "--all"]);
    git(repo, &["gc", "--quiet", "--prune=now"]);
}

#[track_caller]
fn is_held(repo: &Path, vault: &Path, commit: &Oid) -> bool {
    Holds::of(repo, vault).unwrap().all().unwrap().contains(commit)
}

/// An agent that goes back behind its base and commits there, with the files as they were or with others.
#[test]
fn a_commit_made_behind_its_base_outlives_the_base() {
    for how in ["--hard", "--soft"] {
        let run = Run::of_project(more_commits);
        let (base, area) = (oid(&run.repo, "main"), run.area().clone());
        git(run.path(), &["reset", "--quiet", how, "HEAD~3"]);
        write(run.path(), "new", how);
        let commit = run.commit("behind");
        let snapshot = run.taken();
        tidy_vault(&area.repo, &area.vault).unwrap();
        assert!(is_held(&area.repo, &area.vault, &base), "the run still needs it");
        forget_everything(&run.repo);
        assert_eq!(run.collected().head, commit);
        run.workspace.release().unwrap();
        fs::remove_dir_all(area.vault.join("worktrees")).unwrap();
        tidy_vault(&area.repo, &area.vault).unwrap();
        assert!(!is_held(&area.repo, &area.vault, &base), "nobody needs it");
        prune(&run.repo);
        assert!(!try_git(&run.repo, &["cat-file", "-e", base.as_str()]).status.success());
        text(&area.vault, &["rev-list", "--objects", "--quiet", snapshot.commit.as_str()]);
        text(&area.vault, &["fsck", "--strict"]);
    }
}

#[test]
fn a_kept_commit_made_behind_what_is_held_outlives_that() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    more_commits(&repo);
    let (dir, vault) = (repo.join(".git"), sandbox.path("home/vault"));
    open_vault(&dir, &vault).unwrap();
    let base = oid(&repo, "main");
    Holds::of(&dir, &vault).unwrap().add(&base).unwrap();
    hookless(&repo, &["switch", "--quiet", "--create", "work"]);
    hookless(&repo, &["reset", "--quiet", "--soft", "HEAD~3"]);
    let commit = commit_all(&repo, "behind");
    hookless(&repo, &["branch", "--quiet", "-D", "main"]);
    let commits = [(commit.clone(), "x".to_owned())];
    let keep = KeepCommits { repo: &dir, vault: &vault, run: "r1", commits: &commits, at_seconds: 7 };
    let name = keep_commit(&keep).unwrap();
    forget_everything(&repo);
    text(&vault, &["rev-list", "--objects", "--quiet", &name]);
    tidy_vault(&dir, &vault).unwrap();
    assert!(!is_held(&dir, &vault, &base));
    prune(&repo);
    text(&vault, &["rev-list", "--objects", "--quiet", &name]);
    text(&vault, &["fsck", "--strict"]);
}

/// The user has the same tree for a moment, so git does not write it into the vault.
#[test]
fn joined_commits_outlive_the_users_own_merge() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let (dir, vault) = (repo.join(".git"), sandbox.path("home/vault"));
    open_vault(&dir, &vault).unwrap();
    let both = ["one", "two"].map(|name| {
        hookless(&repo, &["switch", "--quiet", "--create", name, "main"]);
        write(&repo, &format!("{name}/file"), name);
        let commit = commit_all(&repo, name);
        Holds::of(&dir, &vault).unwrap().add(&commit).unwrap();
        commit
    });
    hookless(&repo, &["merge", "--quiet", "--message=same", "one"]);
    let Merge::Merged { commit } = merge_commits(&vault, &both, "join").unwrap() else {
        panic!("they go together")
    };
    text(&vault, &["update-ref", "refs/fleet/snapshots/r1/1", commit.as_str()]);
    forget_everything(&repo);
    text(&vault, &["rev-list", "--objects", "--quiet", commit.as_str()]);
}

#[test]
fn a_snapshot_whose_commit_was_lost_blocks_nothing() {
    let run = Run::new();
    let area = run.area().clone();
    write(run.path(), "a", "1");
    let first = run.taken();
    write(run.path(), "a", "2");
    let lost = run.taken();
    let (folder, file) = lost.commit.as_str().split_at(2);
    let object = area.vault.join("objects").join(folder).join(file);
    fs::remove_file(&object).unwrap();
    fs::write(&object, "").unwrap();
    write(&area.vault, "refs/fleet/snapshots/r0/1", format!("{}\n", "1".repeat(40)));

    write(run.path(), "a", "3");
    let third = run.taken();
    let listed = list_snapshots(&area.vault, None).unwrap();
    let commits: Vec<_> = listed.into_iter().map(|snapshot| snapshot.commit).collect();
    assert_eq!(commits, [first.commit, third.commit]);
    let note = area.vault.join("bad-refs/refs-fleet-snapshots-r1-2");
    assert_eq!(fs::read_to_string(note).unwrap().trim_end(), lost.commit.as_str());
    write(&area.vault, "refs/fleet/snapshots/r0/2", format!("{}\n", "2".repeat(40)));
    tidy_vault(&area.repo, &area.vault).unwrap();
    assert!(area.vault.join("bad-refs/refs-fleet-snapshots-r0-2").exists());
}

#[test]
fn the_vault_of_a_run_at_work_stays_where_it_is() {
    let sandbox = Sandbox::new();
    let (repo, moved, home) = (project(&sandbox, "main"), sandbox.path("moved"), sandbox.path("home"));
    let area = area_of(&repo.join(".git"), &home);
    let workspace = opened(&area, "r1", "work");
    fs::rename(&repo, &moved).unwrap();
    let error = open_vault(&moved.join(".git"), &home.join("other")).unwrap_err();
    assert!(matches!(&error, GitError::Refused(why) if why.contains("move it back")), "{error}");
    assert!(area.vault.exists() && !home.join("other").exists());
    fs::rename(&moved, &repo).unwrap();
    workspace.release().unwrap();
    fs::rename(&repo, &moved).unwrap();
    open_vault(&moved.join(".git"), &home.join("other")).unwrap();
    assert!(!area.vault.exists() && home.join("other").exists());
}
