//! Work that only the administrative folders of an agent's repository lead to.

use std::fs;
use std::os::unix::fs::symlink;

use crate::sandbox::{Sandbox, git, try_git};
use crate::support::{Run, commit_all, content, names, oid, text, write};

/// A worktree that the agent made outside of its workspace.
fn worktree(run: &Run, name: &str) -> std::path::PathBuf {
    run.sandbox.worktree(run.path(), name)
}

#[test]
fn commits_and_staged_files_of_a_worktree_elsewhere_are_found() {
    let run = Run::new();
    let elsewhere = worktree(&run, "elsewhere");
    write(&elsewhere, "dropped", "0");
    let dropped = commit_all(&elsewhere, "dropped");
    git(&elsewhere, &["reset", "--quiet", "--hard", "main"]);
    write(&elsewhere, "committed", "1");
    let committed = commit_all(&elsewhere, "committed");
    write(&elsewhere, "staged", "2");
    git(&elsewhere, &["add", "staged"]);
    // Neither its files nor its folder are needed.
    fs::remove_dir_all(&elsewhere).unwrap();
    assert!(run.workspace.untouched(&oid(&run.repo, "main")).is_none());
    let collected = run.collected();
    assert_eq!(collected.unread, None);
    let whats: Vec<&str> = collected.others.iter().map(|other| other.what.as_str()).collect();
    assert_eq!(whats, ["worktree elsewhere", "staged files of worktree elsewhere"]);
    assert_eq!(collected.others[0].commit, committed);
    assert_eq!(content(run.vault(), &collected.others[1].commit, "staged"), "2");
    assert!(try_git(run.vault(), &["cat-file", "-e", dropped.as_str()]).status.success());
    assert_eq!(run.collected(), collected, "twice is as good as once");
    text(run.vault(), &["fsck", "--strict"]);
}

#[test]
fn a_worktree_in_which_nothing_was_done_is_nothing() {
    let run = Run::new();
    worktree(&run, "elsewhere");
    let collected = run.collected();
    assert_eq!((collected.others, collected.unread), (Vec::new(), None));
}

#[test]
fn administrative_folders_lead_nowhere() {
    let run = Run::new();
    for (number, file) in ["HEAD", "logs/HEAD", "index"].into_iter().enumerate() {
        let name = format!("elsewhere{number}");
        worktree(&run, &name);
        let place = run.dot_git().join("worktrees").join(name).join(file);
        let _ = fs::remove_file(&place);
        symlink("/dev/zero", &place).unwrap();
        assert!(run.collected().unread.is_some(), "{file} is told, so that the workspace is kept");
        fs::remove_dir_all(run.dot_git().join("worktrees")).unwrap();
    }
    assert_eq!(run.collected().unread, None);
    symlink("/", run.dot_git().join("worktrees")).unwrap();
    assert!(run.collected().unread.is_some());
}

#[test]
fn commits_of_a_submodule_that_was_removed_are_kept() {
    let run = Run::new();
    let module = run.sandbox.repository("module");
    let inner = Sandbox::submodule(run.path(), &module);
    run.ended();
    write(&inner, "file", "x");
    commit_all(&inner, "in the module");
    git(run.path(), &["rm", "--quiet", "--force", "libs/module"]);
    assert!(!inner.exists());
    let snapshot = run.ended().snapshot.unwrap();
    assert_eq!(snapshot.skips.total, 0, "{:?}", snapshot.skips);
    let nested = oid(run.vault(), &format!("{}^2^{{tree}}", snapshot.commit));
    assert_eq!(names(run.vault(), &nested), [".fleet-git/modules/libs/module/.fleet-commits.bundle"]);
    assert!(!run.ended().snapshot.unwrap().fresh, "nothing new");
}
