//! The user's repository, byte for byte, before and after a run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::{Sandbox, git, try_git};
use crate::support::{Run, everything, oid, project, text, write};
use fleet_host::git::Oid;

type Files = BTreeMap<PathBuf, Vec<u8>>;

/// All files below a folder.
fn files(root: &Path) -> Files {
    let (mut all, mut open) = (Files::new(), vec![root.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
            } else {
                let content = fs::read(&path).unwrap_or_default();
                all.insert(path.strip_prefix(root).unwrap().to_owned(), content);
            }
        }
    }
    all
}

/// What is new or different; nothing may be gone.
fn changed(before: &Files, after: &Files) -> Vec<PathBuf> {
    let gone: Vec<_> = before.keys().filter(|name| !after.contains_key(*name)).collect();
    assert!(gone.is_empty(), "gone: {gone:?}");
    after
        .iter()
        .filter(|(name, content)| before.get(*name) != Some(content))
        .map(|(name, _)| name.clone())
        .collect()
}

/// Everything an agent would do with git, and more.
fn work_hard(run: &Run) {
    let work = run.path();
    write(work, "new", "x");
    run.commit("new");
    git(work, &["branch", "another"]);
    git(work, &["tag", "mine"]);
    git(work, &["branch", "--quiet", "--delete", "--force", "other"]);
    git(work, &["update-ref", "refs/heads/main", "HEAD"]);
    git(work, &["config", "user.name", "Somebody Else"]);
    git(work, &["config", "core.hooksPath", "hooks"]);
    write(work, "README.md", "stashed");
    git(work, &["stash", "--quiet"]);
    git(work, &["gc", "--quiet", "--prune=now"]);
    git(work, &["repack", "--quiet", "-a", "-d"]);
    git(work, &["pack-refs", "--all"]);
    let linked = run.sandbox.path("linked");
    git(work, &["worktree", "add", "--quiet", "--detach", linked.to_str().unwrap()]);
    let _ = try_git(work, &["submodule", "add", "--quiet", "./nowhere", "module"]);
    write(work, "left", "over");
}

/// Whether this is the ref by which a vault holds the commit.
fn is_hold(name: &str, commit: &Oid) -> bool {
    name.starts_with("refs/fleet/held/") && name.ends_with(&format!("/{commit}"))
}

#[test]
fn a_run_leaves_a_branch_its_objects_and_what_is_held() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    git(&repo, &["-c", "core.hooksPath=/dev/null", "branch", "other"]);
    let (files_before, before) = (everything(&repo), files(&repo.join(".git")));
    let base = oid(&repo, "main");
    let run = Run::of(sandbox, repo);
    work_hard(&run);
    let done = run.published();
    run.workspace.release().unwrap();
    assert_eq!(everything(&run.repo), files_before, "the checkout");
    let after = files(&run.repo.join(".git"));
    let is_expected = |path: &PathBuf| {
        let name = path.to_str().unwrap();
        name == "refs/heads/work"
            || is_hold(name, &base)
            || name.strip_prefix("objects/pack/pack-").is_some_and(|_| true)
    };
    let other: Vec<_> = changed(&before, &after).into_iter().filter(|path| !is_expected(path)).collect();
    assert!(other.is_empty(), "{other:?}");
    assert_eq!(text(&run.repo, &["log", "--all", "--format=%H", "--not", "main", done.as_str()]), "");
    let refs = text(&run.repo, &["for-each-ref", "--format=%(refname)"]);
    let (held, branches): (Vec<_>, Vec<_>) = refs.lines().partition(|name| is_hold(name, &base));
    assert_eq!(held.len(), 1, "{refs}");
    assert_eq!(branches, ["refs/heads/main", "refs/heads/other", "refs/heads/work"]);
    text(&run.repo, &["fsck", "--strict"]);
}

#[test]
fn a_run_that_does_nothing_leaves_nothing_but_what_is_held() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let before = files(&repo.join(".git"));
    let base = oid(&repo, "main");
    let run = Run::of(sandbox, repo);
    git(run.path(), &["status"]);
    git(run.path(), &["log"]);
    let seen = run.workspace.untouched(&base).unwrap();
    run.workspace.release_untouched(&seen).unwrap();
    let changed = changed(&before, &files(&run.repo.join(".git")));
    assert!(changed.len() == 1 && is_hold(changed[0].to_str().unwrap(), &base), "{changed:?}");
}

/// The workspace and our own side are whole even if the user's repository is gone for a while.
#[test]
fn a_repository_that_was_moved_away_and_back() {
    let run = Run::new();
    write(run.path(), "new", "x");
    let away = run.sandbox.path("away");
    fs::rename(&run.repo, &away).unwrap();
    assert!(run.workspace.collect().is_err() || run.workspace.untouched(&oid(&away, "main")).is_none());
    fs::rename(&away, &run.repo).unwrap();
    run.published();
}
