//! Committing what an agent left behind.

use std::fs;

use crate::crash::child;
use crate::sandbox::{Sandbox, git, try_git};
use crate::support::{content, names, oid, project, text, worktree, write, write_odd_files};
use fleet_host::git::{
    BranchHas, Checkout, CommitLeftovers, Leftovers, commit_leftovers, has_staged_alone, revive_branch,
};

#[track_caller]
fn committed(checkout: &Checkout) -> Leftovers {
    commit_leftovers(&CommitLeftovers {
        checkout,
        branch: "work",
        message: "leftovers\n\nof r1",
        exclude: &[],
    })
    .unwrap()
}

fn start() -> (Sandbox, std::path::PathBuf, Checkout) {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    fs::remove_dir_all(repo.join(".git/hooks")).unwrap();
    let checkout = worktree(&sandbox, &repo);
    (sandbox, repo, checkout)
}

fn is_settled(checkout: &Checkout) {
    assert_eq!(text(&checkout.work_tree, &["status", "--porcelain"]), "");
    assert!(!text(&checkout.work_tree, &["status"]).contains("You are currently"));
    assert_eq!(text(&checkout.work_tree, &["symbolic-ref", "HEAD"]), "refs/heads/work");
}

#[test]
fn everything_that_is_not_ignored_goes_to_the_branch() {
    let (_sandbox, repo, checkout) = start();
    let work = &checkout.work_tree;
    let before = oid(work, "HEAD");
    let nothing = committed(&checkout);
    assert_eq!(
        (nothing.commit, nothing.head, nothing.branch),
        (None, Some(before.clone()), BranchHas::Everything)
    );

    write_odd_files(work);
    write(work, "x.log", "ignored");
    write(work, "staged", "one");
    git(work, &["add", "staged"]);
    write(work, "staged", "two");
    fs::remove_file(work.join("README.md")).unwrap();
    let done = committed(&checkout);
    let commit = done.commit.unwrap();
    assert_eq!(done.branch, BranchHas::Everything);
    assert_eq!(done.head.as_ref(), Some(&commit));
    assert_eq!(oid(&repo, "work"), commit);
    assert_eq!(oid(&repo, "work~1"), before);
    assert_eq!(text(&repo, &["log", "-1", "--format=%B", "work"]).trim(), "leftovers\n\nof r1");
    assert_eq!(content(&repo, &commit, "staged"), "two");
    let found = names(&repo, &commit);
    assert!(!found.contains(&"x.log".to_owned()) && !found.contains(&"README.md".to_owned()));
    is_settled(&checkout);
    assert_eq!(committed(&checkout).commit, None);
}

#[test]
fn what_is_staged_and_nowhere_else_is_told() {
    let (_sandbox, _repo, checkout) = start();
    let work = &checkout.work_tree;
    let told = || has_staged_alone(&checkout).unwrap();
    assert!(!told(), "nothing is staged");
    write(work, "staged", "one");
    git(work, &["add", "staged"]);
    assert!(!told(), "it is among the files, too");
    fs::remove_file(work.join("staged")).unwrap();
    assert!(told());
}

#[test]
fn private_files_are_not_committed() {
    let (_sandbox, repo, checkout) = start();
    write(&checkout.work_tree, "api.key", "hush");
    git(&checkout.work_tree, &["add", "api.key"]);
    write(&checkout.work_tree, "code", "x");
    let exclude = ["api.key".to_owned()];
    let wanted = CommitLeftovers { checkout: &checkout, branch: "work", message: "x", exclude: &exclude };
    let commit = commit_leftovers(&wanted).unwrap().commit.unwrap();
    assert!(!names(&repo, &commit).contains(&"api.key".to_owned()));
    assert_eq!(text(&checkout.work_tree, &["status", "--porcelain"]), "?? api.key");
}

#[test]
fn a_head_that_was_led_away_is_followed() {
    for detach in [true, false] {
        let (_sandbox, repo, checkout) = start();
        let work = &checkout.work_tree;
        let away: &[&str] = if detach { &["--detach"] } else { &["-b", "mine"] };
        git(work, &[&["checkout", "--quiet"], away].concat());
        write(work, "one", "1");
        git(work, &["add", "one"]);
        git(work, &["commit", "--quiet", "--message=agent"]);
        let agents = oid(work, "HEAD");
        write(work, "two", "2");
        let done = committed(&checkout);
        assert_eq!(done.branch, BranchHas::Everything);
        assert_eq!(Some(oid(&repo, "work")), done.commit);
        assert_eq!(oid(&repo, "work~1"), agents);
        if !detach {
            assert_eq!(oid(&repo, "mine"), agents, "the agent's own branch is not moved");
        }
        is_settled(&checkout);
    }
}

#[test]
fn work_that_the_branch_cannot_follow_to_is_named() {
    let (_sandbox, repo, checkout) = start();
    let work = &checkout.work_tree;
    write(work, "one", "1");
    git(work, &["add", "one"]);
    git(work, &["commit", "--quiet", "--message=on the branch"]);
    let tip = oid(&repo, "work");
    git(work, &["checkout", "--quiet", "--detach", "main"]);
    write(work, "two", "2");
    let done = committed(&checkout);
    assert_eq!(done.branch, BranchHas::NotTheWork { branch_at: Some(tip.clone()) });
    assert_eq!(oid(&repo, "work"), tip);
    let head = done.head.unwrap();
    assert_eq!(oid(work, "HEAD"), head);
    assert_eq!(content(&repo, &head, "two"), "2");
    assert_eq!(text(work, &["status", "--porcelain"]), "");

    // Also when it could follow, but a person is on it.
    git(work, &["checkout", "--quiet", "--detach", "work"]);
    git(&repo, &["checkout", "--quiet", "work"]);
    write(work, "three", "3");
    assert_eq!(committed(&checkout).branch, BranchHas::NotTheWork { branch_at: Some(tip.clone()) });
    assert_eq!(oid(&repo, "work"), tip);
}

#[test]
fn an_orphan_is_kept() {
    let (_sandbox, repo, checkout) = start();
    git(&checkout.work_tree, &["checkout", "--quiet", "--orphan", "unborn"]);
    write(&checkout.work_tree, "new", "x");
    let tip = oid(&repo, "work");
    let done = committed(&checkout);
    assert_eq!(done.branch, BranchHas::NotTheWork { branch_at: Some(tip) });
    assert_eq!(content(&repo, &done.head.unwrap(), "new"), "x");
}

#[test]
fn what_is_under_way_ends_as_a_plain_commit() {
    for verb in ["merge", "rebase", "cherry-pick", "revert"] {
        let (_sandbox, repo, checkout) = start();
        let work = &checkout.work_tree;
        write(work, "README.md", "ours\n");
        git(work, &["commit", "--quiet", "--all", "--message=ours"]);
        git(work, &["checkout", "--quiet", "-b", "other", "HEAD~"]);
        for text in ["theirs 1\n", "theirs 2\n"] {
            write(work, "README.md", text);
            git(work, &["commit", "--quiet", "--all", "--message", text]);
        }
        git(work, &["checkout", "--quiet", "work"]);
        let before = oid(&repo, "work");
        let target = if verb == "revert" { "other~1" } else { "other" };
        assert!(!try_git(work, &[verb, target]).status.success(), "{verb} stops at a conflict");
        write(work, "extra", "x");
        let done = committed(&checkout);
        let head = done.head.unwrap();
        assert_eq!(content(&repo, &head, "extra"), "x", "{verb}");
        assert!(content(&repo, &head, "README.md").contains("<<<<<<<"), "{verb}");
        assert_eq!(text(&repo, &["show", "-s", "--format=%P", head.as_str()]).split(' ').count(), 1);
        if verb == "rebase" {
            // In the middle of a rebase the branch is where it was.
            assert_eq!(done.branch, BranchHas::NotTheWork { branch_at: Some(before) });
        } else {
            assert_eq!((done.branch, oid(&repo, "work~1")), (BranchHas::Everything, before), "{verb}");
            is_settled(&checkout);
        }
        for state in ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge"] {
            assert!(!checkout.git_dir.join(state).exists(), "{state}");
        }
    }
}

#[test]
fn embedded_repositories_are_committed_as_files() {
    let (_sandbox, repo, checkout) = start();
    let inner = checkout.work_tree.join("new-project");
    fs::create_dir_all(&inner).unwrap();
    git(&inner, &["init", "--quiet"]);
    write(&inner, "code", "x");
    let done = committed(&checkout);
    assert_eq!(content(&repo, &done.commit.unwrap(), "new-project/code"), "x");
}

#[test]
fn there_is_an_author_even_if_git_knows_none() {
    let (_sandbox, repo, checkout) = start();
    write(&checkout.work_tree, "new", "x");
    let place = checkout.work_tree.to_str().unwrap();
    child("commit", &[place]).env("HOME", "/nonexistent").run();
    assert_eq!(text(&repo, &["log", "-1", "--format=%an <%ae>", "work"]), "codefleet <codefleet@localhost>");
    git(&repo, &["config", "user.name", "A Person"]);
    git(&repo, &["config", "user.email", "person@example.com"]);
    write(&checkout.work_tree, "new", "y");
    child("commit", &[place]).env("HOME", "/nonexistent").run();
    assert_eq!(text(&repo, &["log", "-1", "--format=%an <%ae>", "work"]), "A Person <person@example.com>");
}

/// A branch that somebody deletes while it is checked out comes back where it was, with the agent's commits.
#[test]
fn a_deleted_branch_comes_back() {
    let (_sandbox, repo, checkout) = start();
    let work = &checkout.work_tree;
    let base = oid(work, "HEAD");
    assert!(!revive_branch(&checkout, "work", &base).unwrap(), "it is there");
    write(work, "own", "of the agent");
    git(work, &["add", "own"]);
    git(work, &["commit", "-qm", "by the agent"]);
    let own = oid(work, "HEAD");
    write(work, "left", "over");
    for has_log in [true, false] {
        git(&repo, &["update-ref", "-d", "refs/heads/work"]);
        if !has_log {
            fs::remove_file(checkout.git_dir.join("logs/HEAD")).unwrap();
        }
        assert!(revive_branch(&checkout, "work", &base).unwrap());
        assert_eq!(oid(&repo, "work"), if has_log { own.clone() } else { base.clone() });
    }
    let done = committed(&checkout);
    assert_eq!(oid(&repo, "work~1"), base);
    let found = names(&repo, &done.commit.unwrap());
    assert!(["own", "left"].iter().all(|name| found.iter().any(|there| there == name)), "{found:?}");
    // A branch of the agent's own without a commit is not ours to make.
    git(work, &["checkout", "-q", "--orphan", "other"]);
    assert!(!revive_branch(&checkout, "work", &base).unwrap());
}
