//! Workspaces of repositories that are not made like most.

use std::fs;
use std::path::Path;

use crate::crash::child;
use crate::sandbox::{Sandbox, git, try_git};
use crate::support::{
    area, area_of, commit_all, commit_left, continued, everything, fresh, is_clean, oid, opened, project,
    request, text, write,
};
use fleet_host::git::{Area, Published, WorkspaceError, changes, take_snapshot};

/// Opens twice, so that the second is a recycled one, and does in each what a run does.
pub(crate) fn live_through(area: &Area) {
    let base = oid(&area.repo, "main");
    for (number, branch) in ["kinds/one", "kinds/two"].into_iter().enumerate() {
        let workspace = opened(area, branch, branch);
        let path = workspace.path();
        assert_eq!(workspace.recycled(), number == 1);
        assert!(!path.join("work").exists() && is_clean(path));
        assert_eq!(oid(path, "main"), base);
        write(path, "own", "of the agent");
        let own = commit_all(path, "of the agent");
        assert_eq!(text(path, &["diff", "--name-only", "main...HEAD"]), "own");
        assert_eq!(workspace.publish_commits().unwrap(), Some(Published::Done));
        assert_eq!(oid(&area.repo, branch), own);
        write(path, "work", branch);
        let collected = workspace.collect().unwrap();
        assert_eq!((collected.head, collected.branch, collected.unread), (own.clone(), Some(own), None));
        let checkout = workspace.checkout().unwrap();
        assert!(take_snapshot(&request(&checkout)).unwrap().fresh);
        let head = commit_left(&checkout).head.unwrap();
        assert_eq!(workspace.publish(&head, fleet_host::git::Compression::Quick).unwrap(), Published::Done);
        assert_eq!(oid(&area.repo, branch), head);
        let seen = changes(&area.repo, &base, &head).unwrap();
        assert_eq!((seen.commits_total, seen.files_total), (2, 2));
        workspace.release().unwrap();
    }
    text(&area.repo, &["fsck", "--strict"]);
    text(&area.vault, &["fsck", "--strict"]);
}

fn area_in(sandbox: &Sandbox, repo: &Path) -> Area {
    Area { pool: 2, ..area_of(repo, &sandbox.path("home")) }
}

#[test]
fn bare_repositories() {
    let sandbox = Sandbox::new();
    let bare = sandbox.bare("project.git");
    live_through(&area_in(&sandbox, &bare));
}

#[test]
fn repositories_with_longer_names_of_objects_or_refs_in_tables() {
    for option in ["--object-format=sha256", "--ref-format=reftable"] {
        let sandbox = Sandbox::new();
        let repo = sandbox.folder("repo");
        if !try_git(&repo, &["init", "--quiet", "--initial-branch=main", option]).status.success() {
            // A git that does not know them yet has no such repositories either.
            continue;
        }
        git(&repo, &["commit", "--quiet", "--allow-empty", "--message=start"]);
        live_through(&area_in(&sandbox, &repo.join(".git")));
    }
}

#[test]
fn a_repository_reached_through_a_link() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "real");
    let link = sandbox.path("link");
    std::os::unix::fs::symlink(&repo, &link).unwrap();
    fs::create_dir_all(sandbox.path("real home")).unwrap();
    std::os::unix::fs::symlink(sandbox.path("real home"), sandbox.path("home")).unwrap();
    live_through(&area_in(&sandbox, &link.join(".git")));
}

#[test]
fn a_branch_that_is_being_rebased_elsewhere() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    fs::remove_dir_all(repo.join(".git/hooks")).unwrap();
    let area = area(&sandbox, &repo);
    opened(&area, "warm", "warm").release().unwrap();
    git(&repo, &["checkout", "--quiet", "-b", "busy"]);
    git(&repo, &["commit", "--quiet", "--allow-empty", "--message=x"]);
    let stopped =
        ["-c", "sequence.editor=sed -i.bak 's/^pick/break\\npick/'", "rebase", "--quiet", "-i", "HEAD~1"];
    try_git(&repo, &stopped);
    assert!(repo.join(".git/rebase-merge").exists());
    let error = area.open(&continued("r", "busy")).unwrap_err();
    assert!(matches!(&error, WorkspaceError::BranchInUse { place, .. } if *place == repo), "{error}");
    assert!(opened(&area, "next", "next").recycled(), "the warm worktree is not to blame");
}

#[test]
fn a_checkout_that_fails_leaves_nothing_behind() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let area = area(&sandbox, &repo);
    write(&repo, ".gitattributes", "*.bin filter=broken\n");
    write(&repo, "a.bin", "x");
    text(&repo, &["-c", "core.hooksPath=/dev/null", "add", "--all"]);
    text(&repo, &["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--message=filter"]);
    git(&repo, &["config", "filter.broken.smudge", "false"]);
    git(&repo, &["config", "filter.broken.required", "true"]);
    let error = area.open(&fresh(&area, "r1", "one")).unwrap_err();
    assert!(error.to_string().contains("broken"), "{error}");
    assert_eq!(area.slots().unwrap(), []);
    assert_eq!(text(&repo, &["branch", "--list", "one"]), "");
    assert_eq!(text(&repo, &["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
    git(&repo, &["config", "filter.broken.smudge", "cat"]);
    assert_eq!(everything(opened(&area, "r1", "one").path()), everything(&repo));
}

#[test]
fn submodules_are_checked_out_and_recycled() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    fs::remove_dir_all(repo.join(".git/hooks")).unwrap();
    let module = sandbox.repository("module");
    write(&module, "lib", "1");
    git(&module, &["add", "--all"]);
    git(&module, &["commit", "--quiet", "--message=lib"]);
    Sandbox::submodule(&repo, &module);
    let area = area_in(&sandbox, &repo.join(".git"));
    // Git does not fetch submodules from a folder unless the user says so.
    let error = area.open(&fresh(&area, "r1", "one")).unwrap_err();
    assert!(matches!(error, WorkspaceError::Submodules(_)), "{error}");
    assert_eq!(text(&repo, &["branch", "--list", "one"]), "");
    assert!(area.slots().unwrap().is_empty(), "the next attempt gets another one");
    child("submodules", &[repo.to_str().unwrap(), sandbox.path("home").to_str().unwrap()])
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "protocol.file.allow")
        .env("GIT_CONFIG_VALUE_0", "always")
        .run();
}

/// The rest of the test above, where the transport is allowed.
pub(crate) fn with_submodules(repo: &str, home: &str) {
    let repo = Path::new(repo);
    let area = area_of(&repo.join(".git"), Path::new(home));
    let files = |path: &Path| {
        let mut files = everything(path);
        files.retain(|name, _| !name.ends_with(b"/.git"));
        files
    };
    let first = opened(&area, "r1", "one");
    assert_eq!(files(first.path()), files(repo));
    let inner = first.path().join("libs/module");
    write(&inner, "lib", "dirty");
    write(&inner, "left", "x");
    git(&inner, &["commit", "--quiet", "--all", "--message=local"]);
    first.release().unwrap();
    let second = opened(&area, "r2", "two");
    assert!(second.recycled());
    assert_eq!(files(second.path()), files(repo));
    assert_eq!(text(second.path(), &["status", "--porcelain", "--ignored"]), "");
}
