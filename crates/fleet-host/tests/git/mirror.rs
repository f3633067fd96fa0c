//! Repositories in which our refs are lost: mirrors of another one that are fetched with `--prune`.

use std::path::{Path, PathBuf};

use crate::sandbox::{Sandbox, git, try_git};
use crate::support::{Run, area_of, commit_all, content, oid, opened, project, text, write};
use fleet_host::git::{Compression, Holds, NotPublished, Published, restore_branch, tidy_vault};

fn prune(repo: &Path) {
    git(repo, &["reflog", "expire", "--expire=now", "--all"]);
    git(repo, &["gc", "--quiet", "--prune=now"]);
}

/// A run in a mirror of the repository `main`.
fn run_in_mirror() -> (Run, PathBuf) {
    let sandbox = Sandbox::new();
    let upstream = project(&sandbox, "main");
    let mirror = sandbox.path("mirror.git");
    git(&upstream, &["clone", "--quiet", "--mirror", upstream.to_str().unwrap(), mirror.to_str().unwrap()]);
    let workspace = opened(&area_of(&mirror, &sandbox.path("home")), "r1", "work");
    (Run { sandbox, repo: mirror, workspace }, upstream)
}

/// The history that the run started from is replaced, and the mirror follows.
fn replace_history(upstream: &Path, mirror: &Path) {
    let hookless = ["-c", "core.hooksPath=/dev/null"];
    git(upstream, &[&hookless[..], &["checkout", "--quiet", "--orphan", "fresh"]].concat());
    write(upstream, "fresh", "x");
    commit_all(upstream, "fresh");
    git(upstream, &[&hookless[..], &["branch", "--quiet", "--force", "main", "fresh"]].concat());
    git(mirror, &["fetch", "--quiet", "--prune"]);
    prune(mirror);
}

#[test]
fn a_run_outlives_the_refs_and_the_history_that_it_started_from() {
    for is_published in [false, true] {
        let (run, upstream) = run_in_mirror();
        let (base, area) = (oid(&run.repo, "main"), run.area().clone());
        write(run.path(), "committed", "1");
        let one = run.commit("one");
        if is_published {
            assert_eq!(run.workspace.publish_commits().unwrap(), Some(Published::Done));
        }
        replace_history(&upstream, &run.repo);
        assert!(!try_git(&run.repo, &["cat-file", "-e", base.as_str()]).status.success(), "the test is one");
        write(run.path(), "left", "2");
        assert_eq!(run.collected().head, one);
        let ended = run.ended();
        let (head, snapshot) = (ended.leftovers.head.unwrap(), ended.snapshot.unwrap());
        let published = run.workspace.publish(&head, Compression::Quick).unwrap();
        if is_published {
            assert_eq!(published, Published::Kept(NotPublished::Deleted), "by the mirror");
        } else {
            assert_eq!((published, oid(&run.repo, "work")), (Published::Done, head));
        }
        run.workspace.release().unwrap();
        tidy_vault(&area.repo, &area.vault).unwrap();
        restore_branch((&area.repo, &area.vault), &snapshot.commit, "back").unwrap();
        for path in ["committed", "left", "README.md"] {
            assert!(!content(&run.repo, &oid(&run.repo, "back"), path).is_empty(), "{path}");
        }
        for folder in [&run.repo, &area.vault] {
            text(folder, &["fsck", "--strict"]);
        }
    }
}

/// A repository that becomes a mirror later: what is needed is copied as soon as that is known.
#[test]
fn what_was_borrowed_is_copied_when_a_repository_becomes_a_mirror() {
    let run = Run::new();
    let (base, area) = (oid(&run.repo, "main"), run.area().clone());
    write(run.path(), "one", "1");
    let snapshot = run.taken();
    git(&run.repo, &["remote", "add", "--mirror=fetch", "other", "/nowhere"]);
    opened(&area, "r2", "other").release().unwrap();
    let refs = format!("refs/fleet/copied/{base}");
    assert_eq!(oid(&area.vault, &refs), base);
    std::fs::write(area.vault.join("objects/info/alternates"), "").unwrap();
    text(&area.vault, &["rev-list", "--objects", "--quiet", snapshot.commit.as_str()]);
}

/// Refs that somebody removes elsewhere come back while what they hold is there.
#[test]
fn commits_are_held_again_with_every_look() {
    let run = Run::new();
    let (base, area) = (oid(&run.repo, "main"), run.area().clone());
    let holds = Holds::of(&area.repo, &area.vault).unwrap();
    holds.give_up(&[base.clone()].into()).unwrap();
    assert!(holds.all().unwrap().is_empty());
    run.collected();
    assert!(holds.all().unwrap().contains(&base));
}
