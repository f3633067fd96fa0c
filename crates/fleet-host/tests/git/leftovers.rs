//! Committing what an agent left behind.

use std::fs;

use crate::crash::child;
use crate::sandbox::{git, try_git};
use crate::support::{Run, commit_all, content, names, oid, text, write, write_odd_files};
use fleet_host::git::restore_branch;

#[test]
fn everything_that_is_not_ignored_is_committed() {
    let run = Run::new();
    let work = run.path();
    let before = oid(work, "HEAD");
    let nothing = run.ended().leftovers;
    assert_eq!((nothing.commit, nothing.head), (None, Some(before.clone())));

    write_odd_files(work);
    write(work, "x.log", "ignored");
    write(work, "staged", "one");
    git(work, &["add", "staged"]);
    write(work, "staged", "two");
    fs::remove_file(work.join("README.md")).unwrap();
    let done = run.ended().leftovers;
    let (commit, vault) = (done.commit.unwrap(), run.vault());
    assert_eq!(done.head.as_ref(), Some(&commit));
    assert_eq!(oid(vault, &format!("{commit}~1")), before);
    assert_eq!(text(vault, &["log", "-1", "--format=%B", commit.as_str()]).trim(), "leftovers\n\nof r1");
    assert_eq!(content(vault, &commit, "staged"), "two");
    let found = names(vault, &commit);
    assert!(!found.contains(&"x.log".to_owned()) && !found.contains(&"README.md".to_owned()));
    assert_eq!(run.ended().leftovers.commit, None);
    assert_eq!(oid(work, "HEAD"), before, "the agent's own repository is not changed");
}

/// They are tracked for the agent, and would be lost for us, who do not know its index.
#[test]
fn ignored_files_that_the_agent_tracks_survive() {
    let run = Run::new();
    let work = run.path();
    write(work, "committed.log", "1");
    git(work, &["add", "--force", "committed.log"]);
    run.commit("a log");
    write(work, "committed.log", "2");
    write(work, "staged.log", "3");
    git(work, &["add", "--force", "staged.log"]);
    write(work, "other.log", "4");
    let ended = run.ended();
    let commit = ended.leftovers.commit.unwrap();
    assert_eq!(content(run.vault(), &commit, "committed.log"), "2");
    let staged = ended.collected.staged.unwrap();
    assert_eq!(content(run.vault(), &staged, "staged.log"), "3");
    let snapshot = ended.snapshot.unwrap();
    assert_eq!(content(run.vault(), &oid(run.vault(), &format!("{}^2", snapshot.commit)), "staged.log"), "3");
    assert!(!names(run.vault(), &commit).contains(&"other.log".to_owned()));
}

#[test]
fn private_files_are_not_committed() {
    let mut run = Run::new();
    let exclude = ["api.key".to_owned()];
    run.workspace.note_private(&exclude).unwrap();
    write(run.path(), "api.key", "hush");
    git(run.path(), &["add", "api.key"]);
    write(run.path(), "code", "x");
    let ended = run.ended_without(&exclude);
    let (commit, snapshot) = (ended.leftovers.commit.unwrap(), ended.snapshot.unwrap());
    for revision in [&commit, &snapshot.commit] {
        assert!(!names(run.vault(), revision).contains(&"api.key".to_owned()));
    }
    let hushed = text(run.path(), &["hash-object", "api.key"]);
    let has_it = try_git(run.vault(), &["cat-file", "-e", &hushed]).status.success();
    assert!(!has_it, "not even as something that was staged");
}

#[test]
fn a_head_that_was_led_away_is_followed() {
    for away in [["--detach"].as_slice(), &["-b", "mine"]] {
        let run = Run::new();
        let work = run.path();
        git(work, &[&["checkout", "--quiet"], away].concat());
        write(work, "one", "1");
        let agents = run.commit("agent");
        write(work, "two", "2");
        let ended = run.ended();
        assert_eq!((&ended.collected.head, ended.collected.branch), (&agents, Some(oid(&run.repo, "main"))));
        let commit = ended.leftovers.commit.unwrap();
        assert_eq!(oid(run.vault(), &format!("{commit}~1")), agents);
        assert_eq!(run.published(), commit);
        assert_eq!(ended.collected.others, [], "the agent's own branch has nothing else");
    }
}

#[test]
fn an_orphan_is_kept() {
    let run = Run::new();
    git(run.path(), &["checkout", "--quiet", "--orphan", "unborn"]);
    write(run.path(), "new", "x");
    let done = run.ended().leftovers;
    assert_eq!(content(run.vault(), &done.head.unwrap(), "new"), "x");
}

#[test]
fn what_is_under_way_ends_as_a_plain_commit() {
    for verb in ["merge", "rebase", "cherry-pick", "revert"] {
        let run = Run::new();
        let work = run.path();
        write(work, "README.md", "ours\n");
        let before = run.commit("ours");
        git(work, &["checkout", "--quiet", "-b", "other", "HEAD~"]);
        for text in ["theirs 1\n", "theirs 2\n"] {
            write(work, "README.md", text);
            run.commit(text);
        }
        git(work, &["checkout", "--quiet", "work"]);
        let target = if verb == "revert" { "other~1" } else { "other" };
        assert!(!try_git(work, &[verb, target]).status.success(), "{verb} stops at a conflict");
        write(work, "extra", "x");
        let ended = run.ended();
        assert_eq!((ended.collected.unread, ended.collected.branch), (None, Some(before.clone())), "{verb}");
        let (head, vault) = (ended.leftovers.head.unwrap(), run.vault());
        assert_eq!(content(vault, &head, "extra"), "x", "{verb}");
        assert!(content(vault, &head, "README.md").contains("<<<<<<<"), "{verb}");
        assert_eq!(text(vault, &["show", "-s", "--format=%P", head.as_str()]).split(' ').count(), 1);
        // In the middle of a rebase it stands on the other branch.
        let stands_on = if verb == "rebase" { oid(work, "other") } else { before };
        assert_eq!(oid(vault, &format!("{head}~1")), stands_on, "{verb}");
    }
}

#[test]
fn embedded_repositories_are_committed_as_files() {
    let run = Run::new();
    let inner = run.path().join("new-project");
    fs::create_dir_all(&inner).unwrap();
    git(&inner, &["init", "--quiet"]);
    write(&inner, "code", "x");
    let commit = run.ended().leftovers.commit.unwrap();
    assert_eq!(content(run.vault(), &commit, "new-project/code"), "x");
}

#[test]
fn there_is_an_author_even_if_git_knows_none() {
    for known in [false, true] {
        let run = Run::of_project(|repo| {
            if known {
                git(repo, &["config", "user.name", "A Person"]);
                git(repo, &["config", "user.email", "person@example.com"]);
            }
        });
        write(run.path(), "new", "x");
        let checkout = run.checkout();
        let places = [&checkout.work_tree, &checkout.git_dir, &checkout.common_dir];
        child("commit", &places.map(|place| place.to_str().unwrap())).env("HOME", "/nonexistent").run();
        let head = run.workspace.head().unwrap();
        let author = text(run.vault(), &["log", "-1", "--format=%an <%ae>", head.as_str()]);
        let expected =
            if known { "A Person <person@example.com>" } else { "codefleet <codefleet@localhost>" };
        assert_eq!(author, expected);
    }
}

/// A branch that the agent deletes while it has it checked out is where its `HEAD` was, with all commits.
#[test]
fn a_branch_that_the_agent_deleted_loses_nothing() {
    let run = Run::new();
    let work = run.path();
    write(work, "own", "of the agent");
    let own = run.commit("by the agent");
    write(work, "left", "over");
    git(work, &["update-ref", "-d", "refs/heads/work"]);
    let ended = run.ended();
    assert_eq!((&ended.collected.head, ended.collected.branch), (&own, None));
    let found = names(run.vault(), &ended.leftovers.commit.unwrap());
    assert!(["own", "left"].iter().all(|name| found.iter().any(|there| there == name)), "{found:?}");
    run.published();
}

/// Git reads these two wherever a branch is checked out, so nothing that fails its check gets into the user's repository.
#[test]
fn files_that_git_refuses_are_kept_and_not_published() {
    let long = format!("* {}\n", "x".repeat(3_000));
    let urls = "[submodule \"x\"]\n\tpath = x\n\turl = -u./evil\n";
    for (path, content_of_it, has_refused_commit) in [
        (".gitmodules", urls, false),
        ("sub/.gitattributes", long.as_str(), false),
        (".gitmodules", urls, true),
    ] {
        let run = Run::new();
        let work = run.path();
        write(work, path, content_of_it);
        if has_refused_commit {
            run.commit("refused");
        }
        write(work, "code", "x");
        let ended = run.ended();
        assert_eq!(ended.collected.unread.is_some(), has_refused_commit);
        let (commit, snapshot) = (ended.leftovers.commit.unwrap(), ended.snapshot.unwrap());
        let skipped: Vec<_> =
            ended.leftovers.skips.named.iter().map(|skipped| skipped.path.clone()).collect();
        assert_eq!(skipped, [path.as_bytes()]);
        assert!(names(run.vault(), &commit).contains(&"code".to_owned()));
        assert!(!names(run.vault(), &commit).contains(&path.to_owned()));
        assert_eq!(content(run.vault(), &snapshot.tree, path), content_of_it, "nothing is lost");
        assert_eq!(run.ended().leftovers.commit, None, "once is enough");
        run.published();
        let both = (run.area().repo.as_path(), run.vault());
        let error = restore_branch(both, &snapshot.commit, "back").unwrap_err().to_string();
        assert!(error.contains(path), "{error}");
        text(&run.repo, &["fsck", "--strict"]);
    }
}

/// One that fails is put back to what it was, not removed; one that passes is committed.
#[test]
fn files_that_git_checks_are_published_if_they_pass() {
    let run = Run::of_project(|repo| {
        write(repo, ".gitattributes", "*.png binary\n");
        commit_all(repo, "attributes");
    });
    write(run.path(), ".gitattributes", "*.jpg binary\n");
    let good = run.ended().leftovers.commit.unwrap();
    assert_eq!(content(run.vault(), &good, ".gitattributes"), "*.jpg binary\n");
    write(run.path(), ".gitattributes", format!("* {}\n", "x".repeat(3_000)));
    assert_eq!(run.ended().leftovers.commit, None);
    write(run.path(), "code", "x");
    let next = run.ended().leftovers.commit.unwrap();
    assert_eq!(content(run.vault(), &next, ".gitattributes"), "*.jpg binary\n");
    run.published();
    text(&run.repo, &["fsck", "--strict"]);
}
