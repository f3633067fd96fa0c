//! Branches and commits by name.

use std::path::Path;

use crate::sandbox::{Sandbox, git};
use crate::support::{oid, text};
use fleet_host::git::{
    GitError, branch_commit, branch_conflict, checked_out_at, delete_branch, has_commit, head_commit,
    resolve_commit, root_commit,
};

#[test]
fn a_revision_is_resolved_to_a_commit_or_refused() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("main");
    let dir = repo.join(".git");
    git(&repo, &["tag", "--annotate", "--message=tag", "v1"]);
    let commit = oid(&repo, "HEAD");
    for rev in ["main", "HEAD", "v1", "main^{commit}", commit.as_str()] {
        assert_eq!(resolve_commit(&dir, rev).unwrap(), commit, "{rev}");
    }
    assert_eq!(head_commit(&dir).unwrap(), commit);
    let tree = text(&repo, &["rev-parse", "HEAD^{tree}"]);
    for rev in ["nothing", &tree, &"1".repeat(40)] {
        let error = resolve_commit(&dir, rev).unwrap_err();
        assert!(matches!(error, GitError::NoSuchCommit { .. }), "{rev}: {error}");
    }
    for rev in ["--all", "", "a..b"] {
        assert!(matches!(resolve_commit(&dir, rev), Err(GitError::Refused(_))), "{rev}");
    }
}

#[test]
fn a_repository_without_a_commit_says_so() {
    let sandbox = Sandbox::new();
    let repo = sandbox.folder("fresh");
    git(&repo, &["init", "--quiet"]);
    let error = head_commit(&repo.join(".git")).unwrap_err();
    assert!(error.to_string().contains("make a first one"), "{error}");
}

#[test]
fn names_that_are_taken_are_explained() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("main");
    let dir = repo.join(".git");
    let conflict = |name: &str| branch_conflict(&dir, name).unwrap();
    git(&repo, &["branch", "feature/a"]);
    git(&repo, &["branch", "claude"]);
    for packed in [false, true] {
        if packed {
            git(&repo, &["pack-refs", "--all"]);
        }
        assert_eq!(conflict("feature/a").as_deref(), Some("it exists already"));
        assert!(conflict("feature").unwrap().contains("\"feature/a\""));
        assert!(conflict("feature/a/b").unwrap().contains("\"feature/a\""));
        assert!(conflict("claude/1").unwrap().contains("\"claude\""));
        for free in ["feature-a", "feature/b", "feature/ab", "features", "claude-1", "Feature/A"] {
            assert_eq!(conflict(free), None, "{free}");
        }
    }
    git(&repo, &["config", "core.ignoreCase", "true"]);
    assert!(conflict("CLAUDE").unwrap().contains("upper and lower case"));
    assert!(matches!(branch_conflict(&dir, "-x"), Err(GitError::Refused(_))));
}

#[test]
fn a_branch_is_deleted_only_where_it_was_seen() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("main");
    let dir = repo.join(".git");
    let first = oid(&repo, "HEAD");
    git(&repo, &["branch", "old"]);
    git(&repo, &["commit", "--quiet", "--allow-empty", "--message=two"]);
    let second = oid(&repo, "HEAD");
    assert!(!delete_branch(&dir, "old", &second).unwrap());
    assert_eq!(branch_commit(&dir, "old").unwrap(), Some(first.clone()));
    assert!(delete_branch(&dir, "old", &first).unwrap());
    assert_eq!(branch_commit(&dir, "old").unwrap(), None);
    assert!(!delete_branch(&dir, "old", &first).unwrap());
    assert!(delete_branch(&dir, "main", &second).unwrap_err().to_string().contains("checked out"));
    assert_eq!(checked_out_at(&dir, "main").unwrap(), Some(repo));
    assert_eq!(checked_out_at(&dir, "old").unwrap(), None);
}

#[test]
fn a_branch_that_is_a_link_to_another_takes_only_itself_away() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("main");
    let git_dir = repo.join(".git");
    git(&repo, &["branch", "release"]);
    let at = oid(&repo, "release");
    git(&repo, &["symbolic-ref", "refs/heads/sly", "refs/heads/release"]);
    assert!(delete_branch(&git_dir, "sly", &at).unwrap());
    assert_eq!(branch_commit(&git_dir, "release").unwrap(), Some(at));
    assert_eq!(branch_commit(&git_dir, "sly").unwrap(), None);
}

#[test]
fn a_history_is_known_by_its_first_commit() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("main");
    let first = oid(&repo, "HEAD");
    let commit = |message: &str| git(&repo, &["commit", "--quiet", "--allow-empty", "-m", message]);
    let root = |repo: &Path| root_commit(&repo.join(".git")).unwrap();
    commit("second");
    assert_eq!(root(&repo).as_ref(), Some(&first));
    git(&repo, &["switch", "--quiet", "--orphan", "other"]);
    commit("of another history");
    let other = oid(&repo, "HEAD");
    assert_eq!(root(&repo).as_ref(), Some(&other), "of the current commit");
    git(&repo, &["switch", "--quiet", "main"]);
    git(&repo, &["merge", "--quiet", "--allow-unrelated-histories", "--no-edit", "other"]);
    assert_eq!(root(&repo).as_ref(), Some(&first), "what was merged does not count");
    let empty = sandbox.folder("fresh");
    git(&empty, &["init", "--quiet"]);
    assert_eq!(root(&empty), None);
}

#[test]
fn a_commit_is_had_by_itself_packed_or_borrowed() {
    let sandbox = Sandbox::new();
    let repo = sandbox.repository("main");
    let (commit, folder) = (oid(&repo, "HEAD"), sandbox.folder("clones"));
    let has = |repo: &Path| has_commit(&repo.join(".git"), &commit).unwrap();
    let (whole, shared, empty) = (folder.join("whole"), folder.join("shared"), folder.join("empty"));
    git(&repo, &["clone", "--quiet", "--no-local", ".", whole.to_str().unwrap()]);
    git(&repo, &["clone", "--quiet", "--shared", ".", shared.to_str().unwrap()]);
    git(&folder, &["init", "--quiet", "empty"]);
    assert!(has(&repo) && has(&whole) && has(&shared));
    assert!(!has(&empty));
}
