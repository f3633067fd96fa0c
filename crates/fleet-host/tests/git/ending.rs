//! Commit and snapshot of the same look at a work tree.

use crate::sandbox::git;
use crate::support::{Run, content, names, oid, text, write};

#[test]
fn leftovers_are_committed_and_kept() {
    let run = Run::new();
    write(run.path(), "new", "x");
    let ended = run.ended();
    let (commit, snapshot) = (ended.leftovers.commit.unwrap(), ended.snapshot.unwrap());
    assert_eq!(run.workspace.head().unwrap(), commit);
    assert_eq!(oid(run.vault(), &format!("{commit}^{{tree}}")), snapshot.tree);
    assert_eq!(snapshot.head, Some(commit));
    assert_eq!(snapshot.ref_name, "refs/fleet/snapshots/r1/1");
    assert_eq!(oid(run.vault(), &snapshot.ref_name), snapshot.commit);
}

/// As after a kill: whoever takes over does it all once more.
#[test]
fn ending_again_changes_nothing() {
    let run = Run::new();
    write(run.path(), "own", "of the agent");
    run.commit("by the agent");
    write(run.path(), "new", "x");
    let first = run.ended().leftovers;
    let again = run.ended();
    assert_eq!(again.leftovers.commit, None);
    assert_eq!(again.leftovers.head, first.commit, "what we committed is not left behind");
    assert_eq!(again.snapshot.map(|again| again.fresh), Some(false));
    assert_eq!(Some(run.published()), first.commit);
    let (repo, area) = (run.repo.clone(), run.area().clone());
    drop(run.workspace);
    let adopted = area.adopt("r1").unwrap().unwrap();
    adopted.collect().unwrap();
    assert_eq!(Some(adopted.head().unwrap()), first.commit);
    assert_eq!(Some(oid(&repo, "work")), first.commit);
}

#[test]
fn nothing_left_leaves_nothing() {
    let run = Run::new();
    let ended = run.ended();
    assert_eq!((ended.leftovers.commit, ended.snapshot), (None, None));
    assert_eq!(text(run.vault(), &["for-each-ref"]), "");
}

#[test]
fn what_was_staged_and_what_a_filter_refuses_is_only_in_the_snapshot() {
    let run = Run::of_project(|repo| {
        git(repo, &["config", "filter.broken.clean", "false"]);
        git(repo, &["config", "filter.broken.required", "true"]);
    });
    let work = run.path();
    write(work, "staged", "one");
    git(work, &["add", "staged"]);
    write(work, "staged", "two");
    write(work, ".gitattributes", "*.bin filter=broken\n");
    write(work, "data.bin", "raw bytes");
    let ended = run.ended();
    let (commit, snapshot) = (ended.leftovers.commit.unwrap(), ended.snapshot.unwrap());
    let vault = run.vault();
    assert_eq!(names(vault, &commit), [".gitattributes", ".gitignore", "README.md", "src/main.rs", "staged"]);
    assert_eq!((ended.leftovers.skips.total, snapshot.skips.total), (1, 0));
    assert_eq!(content(vault, &snapshot.tree, "data.bin"), "raw bytes");
    assert_eq!(oid(vault, &format!("{}^1", snapshot.commit)), commit);
    assert_eq!(text(vault, &["cat-file", "blob", &format!("{}^2:staged", snapshot.commit)]), "one");
}

#[test]
fn work_beside_the_branch_is_in_the_snapshot() {
    let run = Run::new();
    let work = run.path();
    write(work, "one", "1");
    let on_branch = run.commit("on the branch");
    git(work, &["checkout", "--quiet", "--detach", "main"]);
    write(work, "two", "2");
    let ended = run.ended();
    assert_eq!(ended.collected.branch, Some(on_branch));
    assert_eq!(ended.collected.head, oid(&run.repo, "main"));
    let snapshot = ended.snapshot.unwrap();
    assert_eq!(oid(run.vault(), &format!("{}^1", snapshot.commit)), ended.leftovers.head.unwrap());
}
