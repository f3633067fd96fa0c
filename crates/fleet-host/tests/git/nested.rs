//! Repositories inside of a work tree: nothing in them is lost.

use std::fs;
use std::path::Path;

use crate::sandbox::{Sandbox, git};
use crate::support::{Run, content, names, request, text, write};
use fleet_host::git::{Oid, take_snapshot_of_rest};

fn commit(repo: &Path, message: &str) {
    git(repo, &["add", "--all"]);
    git(repo, &["commit", "--quiet", "--message", message]);
}

/// The tree of what is kept beside a snapshot.
fn kept(repo: &Path, snapshot: &Oid) -> Oid {
    let last = text(repo, &["show", "-s", "--format=%P", snapshot.as_str()]);
    let last = last.rsplit(' ').next().unwrap().to_owned();
    Oid::parse(&text(repo, &["rev-parse", &format!("{last}^{{tree}}")])).unwrap()
}

/// The subjects of the commits in a bundle.
fn bundled(sandbox: &Sandbox, repo: &Path, tree: &Oid, path: &str) -> String {
    let file = sandbox.path("a.bundle");
    let show = crate::sandbox::try_git(repo, &["cat-file", "blob", &format!("{tree}:{path}")]);
    assert!(show.status.success(), "there is a bundle at {path}");
    fs::write(&file, show.stdout).unwrap();
    let clone = sandbox.path("of the bundle");
    text(sandbox.path("").as_path(), &["clone", "--quiet", file.to_str().unwrap(), clone.to_str().unwrap()]);
    let subjects = text(&clone, &["log", "--format=%s"]);
    fs::remove_dir_all(clone).unwrap();
    subjects
}

#[test]
fn embedded_repositories_are_kept_with_files_and_commits() {
    let run = Run::new();
    let work = run.path();
    // One with commits, a dirty file and an ignored one; one without a commit; one inside of another.
    for inner in ["vendor/lib", "fresh", "vendor/lib/deep"] {
        fs::create_dir_all(work.join(inner)).unwrap();
        git(&work.join(inner), &["init", "--quiet", "--initial-branch=main"]);
    }
    write(work, "vendor/lib/tracked", "1");
    write(work, "vendor/lib/.gitignore", "*.o\n/deep/\n");
    commit(&work.join("vendor/lib"), "inner work");
    write(work, "vendor/lib/tracked", "2");
    write(work, "vendor/lib/untracked\nname", "3");
    write(work, "vendor/lib/a.o", "4");
    write(work, "fresh/file", "5");
    fs::create_dir_all(work.join("vendor/other")).unwrap();
    git(&work.join("vendor/other"), &["init", "--quiet"]);
    write(work, "vendor/other/x/y", "6");

    let snapshot = run.taken();
    let found = names(run.vault(), &snapshot.tree);
    assert_eq!(snapshot.skips.total, 0, "{:?}", snapshot.skips);
    assert_eq!(content(run.vault(), &snapshot.tree, "vendor/lib/tracked"), "2");
    assert_eq!(content(run.vault(), &snapshot.tree, "vendor/lib/untracked\nname"), "3");
    assert_eq!(content(run.vault(), &snapshot.tree, "fresh/file"), "5");
    assert_eq!(content(run.vault(), &snapshot.tree, "vendor/other/x/y"), "6");
    assert!(!found.contains(&"vendor/lib/a.o".to_owned()), "{found:?}");
    let beside = kept(run.vault(), &snapshot.commit);
    assert_eq!(bundled(&run.sandbox, run.vault(), &beside, "vendor/lib/.fleet-commits.bundle"), "inner work");
    assert!(!run.taken().fresh, "the same repositories are nothing new");
    // The inner repository is as it was.
    assert_eq!(text(&work.join("vendor/lib"), &["status", "--porcelain"]).lines().count(), 2);
}

#[test]
fn repositories_inside_of_each_other() {
    let run = Run::new();
    let mut folder = String::new();
    for level in 0..12 {
        folder = format!("{folder}n{level}/");
        let place = run.path().join(&folder);
        fs::create_dir_all(&place).unwrap();
        git(&place, &["init", "--quiet"]);
        write(&place, "file", "x");
    }
    let snapshot = run.taken();
    let count = names(run.vault(), &snapshot.tree).iter().filter(|name| name.ends_with("/file")).count();
    assert_eq!(count, 8);
    assert_eq!(snapshot.skips.total, 1, "what is deeper is reported");
}

#[test]
fn submodules_keep_changes_and_commits_of_their_own() {
    let run = Run::new();
    let module = run.sandbox.repository("module");
    write(&module, "lib", "1");
    commit(&module, "published");
    let work = run.path();
    Sandbox::submodule(work, &module);
    let clean = run.taken();
    assert_eq!(
        text(run.vault(), &["show", "-s", "--format=%P", clean.commit.as_str()]).split(' ').count(),
        1
    );
    assert!(!run.taken().fresh, "a submodule as it should be is nothing new");
    let checkout = run.checkout();
    let rest = || take_snapshot_of_rest(&request(&checkout)).unwrap();
    assert_eq!(rest(), None, "nothing is left");
    let inner = work.join("libs/module");
    write(&inner, "lib", "2");
    assert!(rest().is_some_and(|rest| rest.fresh), "a commit would not have it, and it is kept");
    commit(&inner, "local work");
    write(&inner, "lib", "3");
    write(&inner, "untracked", "4");
    let snapshot = run.taken();
    let link = text(run.vault(), &["rev-parse", &format!("{}:libs/module", snapshot.tree)]);
    assert_eq!(link, text(&inner, &["rev-parse", "HEAD"]));
    let beside = kept(run.vault(), &snapshot.commit);
    assert_eq!(content(run.vault(), &beside, "libs/module/lib"), "3");
    assert_eq!(content(run.vault(), &beside, "libs/module/untracked"), "4");
    // Only what the remote has not: the rest is asked for there.
    let file = run.sandbox.path("local.bundle");
    let blob = format!("{beside}:libs/module/.fleet-commits.bundle");
    fs::write(&file, crate::sandbox::try_git(run.vault(), &["cat-file", "blob", &blob]).stdout).unwrap();
    git(&module, &["fetch", "--quiet", file.to_str().unwrap(), "HEAD"]);
    assert_eq!(text(&module, &["log", "-1", "--format=%s", "FETCH_HEAD"]), "local work");
}

#[test]
fn a_repository_in_the_place_of_the_agents_own() {
    let run = Run::new();
    let work = run.path();
    fs::remove_dir_all(work.join(".git")).unwrap();
    git(work, &["init", "--quiet", "--initial-branch=main"]);
    write(work, "new", "x");
    commit(work, "in the wrong place");
    let collected = run.collected();
    assert_eq!((&collected.unread, &collected.head), (&None, &crate::support::oid(work, "HEAD")));
    let snapshot = run.taken();
    assert_eq!(content(run.vault(), &snapshot.tree, "new"), "x");
    let subject = text(run.vault(), &["show", "-s", "--format=%s", &format!("{}^1", snapshot.commit)]);
    assert_eq!(subject, "in the wrong place");
}
