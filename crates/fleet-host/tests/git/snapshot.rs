//! Snapshots of work trees in good order.

use std::fs;

use crate::sandbox::git;
use crate::support::{Run, content, everything, hook_ran, names, oid, request, text, write, write_odd_files};
use fleet_host::git::{
    GitError, SkippedWhy, TakeSnapshot, drop_snapshots, list_snapshots, restore_branch, take_snapshot,
};

#[test]
fn a_snapshot_has_every_byte() {
    let run = Run::new();
    let work = run.path();
    write_odd_files(work);
    fs::remove_file(work.join("README.md")).unwrap();
    write(work, "src/main.rs", "fn main() { changed }\n");
    let before = everything(work);

    let snapshot = run.taken();
    assert!(snapshot.fresh);
    assert_eq!(snapshot.skips.total, 0, "{:?}", snapshot.skips);
    assert_eq!(snapshot.ref_name, "refs/fleet/snapshots/r1/1");
    assert_eq!(snapshot.head, Some(oid(work, "HEAD")));
    let both = (run.area().repo.as_path(), run.vault());
    restore_branch(both, &snapshot.commit, "back").unwrap();
    let restored = run.sandbox.path("restored");
    text(
        &run.repo,
        &["-c", "core.hooksPath=/dev/null", "worktree", "add", "--quiet", restored.to_str().unwrap(), "back"],
    );
    assert_eq!(everything(&restored), before);
    let error = restore_branch(both, &snapshot.commit, "back").unwrap_err();
    assert!(matches!(error, GitError::BranchTaken { .. }), "{error}");
    text(&run.repo, &["fsck", "--strict"]);
}

#[test]
fn snapshots_are_not_in_the_users_repository() {
    let run = Run::new();
    write(run.path(), "new", "x");
    let snapshot = run.taken();
    let refs = text(&run.repo, &["for-each-ref", "--format=%(refname)", "refs/fleet"]);
    let is_hold = refs.starts_with("refs/fleet/held/") && refs.ends_with(oid(&run.repo, "main").as_str());
    assert!(is_hold && refs.lines().count() == 1, "but for what is borrowed: {refs}");
    assert!(
        !crate::sandbox::try_git(&run.repo, &["cat-file", "-e", snapshot.commit.as_str()]).status.success()
    );
    assert_eq!(text(&run.repo, &["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
    assert!(!hook_ran(&run.repo));
}

#[test]
fn the_agent_notices_nothing() {
    let run = Run::new();
    write(run.path(), "staged", "one");
    git(run.path(), &["add", "staged"]);
    write(run.path(), "staged", "two");
    let state = || {
        let folder = run.dot_git();
        let modified = fs::metadata(folder.join("index")).unwrap().modified().unwrap();
        (everything(&folder), modified)
    };
    let before = state();
    let snapshot = run.taken();
    assert_eq!(state(), before);
    assert_eq!(content(run.vault(), &snapshot.tree, "staged"), "two");
    // What was staged is in neither `HEAD` nor the work tree, so it has a parent of its own.
    assert_eq!(text(run.vault(), &["cat-file", "blob", &format!("{}^2:staged", snapshot.commit)]), "one");
    assert_eq!(oid(run.vault(), &format!("{}^1", snapshot.commit)), oid(run.path(), "HEAD"));
}

#[test]
fn nothing_new_makes_no_new_snapshot() {
    let run = Run::new();
    write(run.path(), "new", "1");
    let first = run.taken();
    let again = run.taken_with(|take| TakeSnapshot { at_seconds: 1_800_000_000, ..take });
    assert!(!again.fresh);
    assert_eq!((again.ref_name, &again.commit), (first.ref_name, &first.commit));

    git(run.path(), &["add", "new"]);
    assert!(!run.taken().fresh, "staging what is in the work tree is nothing new");
    write(run.path(), "new", "2");
    let second = run.taken();
    assert_eq!((second.fresh, second.ref_name.as_str()), (true, "refs/fleet/snapshots/r1/2"));
    run.commit("x");
    assert!(run.taken().fresh, "another HEAD is something new");
    assert!(!run.taken().fresh);
}

#[test]
fn snapshots_are_listed_and_dropped() {
    let run = Run::new();
    for number in 1..=11 {
        write(run.path(), "count", number.to_string());
        run.taken();
    }
    let why = "before\nkill: x";
    run.taken_with(|take| TakeSnapshot { run: "r2", why, at_seconds: 7, ..take });
    // One that is not ours.
    let base = oid(&run.repo, "main");
    git(run.vault(), &["update-ref", "refs/fleet/snapshots/r3/1", base.as_str()]);
    let list = |name| list_snapshots(run.vault(), name).unwrap();
    let all = list(None);
    let shown: Vec<_> = all.iter().map(|one| (one.run.as_str(), one.number)).collect();
    assert_eq!(shown, (1..=11).map(|number| ("r1", number)).chain([("r2", 1)]).collect::<Vec<_>>());
    let newest = all.last().unwrap();
    assert_eq!((newest.why.as_str(), newest.at_seconds), ("before kill: x", 7));
    assert_eq!(newest.head, Some(oid(run.path(), "HEAD")));

    drop_snapshots(run.vault(), &list(Some("r1"))[..10]).unwrap();
    assert_eq!(list(None).len(), 2);
    write(run.path(), "count", "12");
    assert_eq!(run.taken().ref_name, "refs/fleet/snapshots/r1/12");
    let mut foreign = list(Some("r2"));
    "refs/heads/main".clone_into(&mut foreign[0].ref_name);
    assert!(matches!(drop_snapshots(run.vault(), &foreign), Err(GitError::Refused(_))));
    let checkout = run.checkout();
    for name in ["", "../heads", "a/b", "-x"] {
        let wrong = TakeSnapshot { run: name, ..request(&checkout) };
        assert!(matches!(take_snapshot(&wrong), Err(GitError::Refused(_))), "{name}");
    }
}

#[test]
fn private_files_stay_out() {
    let mut run = Run::new();
    let exclude = ["secret.key", "staged.key", "committed.key"].map(str::to_owned);
    run.workspace.note_private(&exclude).unwrap();
    let work = run.path();
    for name in ["secret.key", "staged.key", "committed.key", "other"] {
        write(work, name, "hush");
    }
    git(work, &["add", "staged.key", "committed.key"]);
    git(work, &["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--message=x", "committed.key"]);
    let (collected, checkout) = (run.collected(), run.checkout());
    let staged = collected.staged.as_ref();
    let take = TakeSnapshot { exclude: &exclude, staged, ..request(&checkout) };
    let snapshot = take_snapshot(&take).unwrap();
    let found = names(run.vault(), &snapshot.tree);
    assert!(!found.contains(&"secret.key".to_owned()), "{found:?}");
    assert!(!found.contains(&"staged.key".to_owned()), "{found:?}");
    assert!(found.contains(&"other".to_owned()), "{found:?}");
    // The agent has published it already: leaving it out would look like a removal.
    assert!(found.contains(&"committed.key".to_owned()), "{found:?}");
    assert_eq!(
        text(run.vault(), &["rev-list", "--count", "--parents", "--max-count=1", snapshot.commit.as_str()]),
        "1"
    );
    let parents = text(run.vault(), &["show", "-s", "--format=%P", snapshot.commit.as_str()]);
    assert_eq!(parents.split(' ').count(), 1, "what is staged apart from it is in the tree");
}

#[test]
fn large_files_can_be_left_out() {
    let run = Run::new();
    write(run.path(), "large", vec![b'x'; 5000]);
    write(run.path(), "small", vec![b'x'; 500]);
    let snapshot = run.taken_with(|take| TakeSnapshot { max_file: Some(1000), ..take });
    assert_eq!(snapshot.skips.total, 1);
    assert_eq!(snapshot.skips.named[0].path, b"large");
    assert_eq!(snapshot.skips.named[0].why, SkippedWhy::TooLarge { bytes: 5000 });
    assert!(!names(run.vault(), &snapshot.tree).contains(&"large".to_owned()));
    let whole = run.taken();
    assert!(names(run.vault(), &whole.tree).contains(&"large".to_owned()));
    assert_eq!(whole.bytes, 5500);
}
