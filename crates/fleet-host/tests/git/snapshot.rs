//! Snapshots of work trees in good order.

use std::fs;

use crate::sandbox::{Sandbox, git};
use crate::support::{
    content, everything, hook_ran, names, oid, project, request, taken, text, worktree, write,
    write_odd_files,
};
use fleet_host::git::{
    GitError, SkippedWhy, TakeSnapshot, drop_snapshots, list_snapshots, restore_branch, take_snapshot,
};

#[test]
fn a_snapshot_has_every_byte() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let checkout = worktree(&sandbox, &repo);
    let work = &checkout.work_tree;
    write_odd_files(work);
    fs::remove_file(work.join("README.md")).unwrap();
    write(work, "src/main.rs", "fn main() { changed }\n");
    let before = everything(work);

    let snapshot = taken(&checkout);
    assert!(snapshot.fresh);
    assert_eq!(snapshot.skips.total, 0, "{:?}", snapshot.skips);
    assert_eq!(snapshot.ref_name, "refs/fleet/snapshots/r1/1");
    assert_eq!(snapshot.head, Some(oid(work, "HEAD")));
    restore_branch(&checkout.common_dir, &snapshot.commit, "back").unwrap();
    let restored = sandbox.path("restored");
    text(
        &repo,
        &["-c", "core.hooksPath=/dev/null", "worktree", "add", "--quiet", restored.to_str().unwrap(), "back"],
    );
    assert_eq!(everything(&restored), before);
    let error = restore_branch(&checkout.common_dir, &snapshot.commit, "back").unwrap_err();
    assert!(matches!(error, GitError::BranchTaken { .. }), "{error}");
    assert!(!hook_ran(&repo));
}

#[test]
fn the_agent_notices_nothing() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let checkout = worktree(&sandbox, &repo);
    write(&checkout.work_tree, "staged", "one");
    git(&checkout.work_tree, &["add", "staged"]);
    write(&checkout.work_tree, "staged", "two");
    let state = || {
        let index = checkout.git_dir.join("index");
        let modified = fs::metadata(&index).unwrap().modified().unwrap();
        let mut files: Vec<_> =
            fs::read_dir(&checkout.git_dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        (fs::read(index).unwrap(), modified, fs::read(checkout.git_dir.join("HEAD")).unwrap(), files)
    };
    let before = state();
    let snapshot = taken(&checkout);
    assert_eq!(state(), before);
    assert_eq!(content(&repo, &snapshot.tree, "staged"), "two");
    // What was staged is in neither `HEAD` nor the work tree, so it has a parent of its own.
    assert_eq!(text(&repo, &["cat-file", "blob", &format!("{}^2:staged", snapshot.commit)]), "one");
    assert_eq!(oid(&repo, &format!("{}^1", snapshot.commit)), oid(&checkout.work_tree, "HEAD"));
}

#[test]
fn nothing_new_makes_no_new_snapshot() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let checkout = worktree(&sandbox, &repo);
    write(&checkout.work_tree, "new", "1");
    let first = taken(&checkout);
    let again = take_snapshot(&TakeSnapshot { at_seconds: 1_800_000_000, ..request(&checkout) }).unwrap();
    assert!(!again.fresh);
    assert_eq!((again.ref_name, &again.commit), (first.ref_name, &first.commit));

    git(&checkout.work_tree, &["add", "new"]);
    assert!(!taken(&checkout).fresh, "staging what is in the work tree is nothing new");
    write(&checkout.work_tree, "new", "2");
    let second = taken(&checkout);
    assert_eq!((second.fresh, second.ref_name.as_str()), (true, "refs/fleet/snapshots/r1/2"));
    git(
        &checkout.work_tree,
        &["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--all", "--message=x"],
    );
    assert!(taken(&checkout).fresh, "another HEAD is something new");
    assert!(!taken(&checkout).fresh);
}

#[test]
fn snapshots_are_listed_and_dropped() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let checkout = worktree(&sandbox, &repo);
    for number in 1..=11 {
        write(&checkout.work_tree, "count", number.to_string());
        taken(&checkout);
    }
    let why = "before\nkill: x";
    let other = TakeSnapshot { run: "r2", why, at_seconds: 7, ..request(&checkout) };
    take_snapshot(&other).unwrap();
    git(&repo, &["update-ref", "refs/fleet/snapshots/r3/1", "HEAD"]);
    let list = |run| list_snapshots(&checkout.common_dir, run).unwrap();
    let all = list(None);
    let shown: Vec<_> = all.iter().map(|one| (one.run.as_str(), one.number)).collect();
    assert_eq!(shown, (1..=11).map(|number| ("r1", number)).chain([("r2", 1)]).collect::<Vec<_>>());
    let newest = all.last().unwrap();
    assert_eq!((newest.why.as_str(), newest.at_seconds), ("before kill: x", 7));
    assert_eq!(newest.head, Some(oid(&checkout.work_tree, "HEAD")));

    drop_snapshots(&checkout.common_dir, &list(Some("r1"))[..10]).unwrap();
    assert_eq!(list(None).len(), 2);
    write(&checkout.work_tree, "count", "12");
    assert_eq!(taken(&checkout).ref_name, "refs/fleet/snapshots/r1/12");
    let mut foreign = list(Some("r2"));
    "refs/heads/main".clone_into(&mut foreign[0].ref_name);
    assert!(matches!(drop_snapshots(&checkout.common_dir, &foreign), Err(GitError::Refused(_))));
    for run in ["", "../heads", "a/b", "-x"] {
        let wrong = TakeSnapshot { run, ..request(&checkout) };
        assert!(matches!(take_snapshot(&wrong), Err(GitError::Refused(_))), "{run}");
    }
}

#[test]
fn private_files_stay_out() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let checkout = worktree(&sandbox, &repo);
    let work = &checkout.work_tree;
    for name in ["secret.key", "staged.key", "committed.key", "other"] {
        write(work, name, "hush");
    }
    git(work, &["add", "staged.key", "committed.key"]);
    git(work, &["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--message=x", "committed.key"]);
    let exclude = ["secret.key", "staged.key", "committed.key"].map(str::to_owned);
    let snapshot = take_snapshot(&TakeSnapshot { exclude: &exclude, ..request(&checkout) }).unwrap();
    let found = names(&repo, &snapshot.tree);
    assert!(!found.contains(&"secret.key".to_owned()), "{found:?}");
    assert!(!found.contains(&"staged.key".to_owned()), "{found:?}");
    assert!(found.contains(&"other".to_owned()), "{found:?}");
    // The agent has published it already: leaving it out would look like a removal.
    assert!(found.contains(&"committed.key".to_owned()), "{found:?}");
    assert_eq!(
        text(&repo, &["rev-list", "--count", "--parents", "--max-count=1", snapshot.commit.as_str()]),
        "1"
    );
    let parents = text(&repo, &["show", "-s", "--format=%P", snapshot.commit.as_str()]);
    assert_eq!(parents.split(' ').count(), 1, "what is staged apart from it is in the tree");
}

#[test]
fn large_files_can_be_left_out() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let checkout = worktree(&sandbox, &repo);
    write(&checkout.work_tree, "large", vec![b'x'; 5000]);
    write(&checkout.work_tree, "small", vec![b'x'; 500]);
    let snapshot = take_snapshot(&TakeSnapshot { max_file: Some(1000), ..request(&checkout) }).unwrap();
    assert_eq!(snapshot.skips.total, 1);
    assert_eq!(snapshot.skips.named[0].path, b"large");
    assert_eq!(snapshot.skips.named[0].why, SkippedWhy::TooLarge { bytes: 5000 });
    assert!(!names(&repo, &snapshot.tree).contains(&"large".to_owned()));
    let whole = taken(&checkout);
    assert!(names(&repo, &whole.tree).contains(&"large".to_owned()));
    assert_eq!(whole.bytes, 5500);
}
