//! Workspaces and the pool they come from.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;

use crate::sandbox::{Sandbox, git};
use crate::support::{
    Run, area, commit_all, continued, everything, fresh, hook_ran, is_clean, oid, opened, project, text,
    write, write_odd_files,
};
use fleet_core::time::Millis;
use fleet_host::disk::usage;
use fleet_host::git::{
    Area, GitError, KeepFiles, Pace, SlotState, WorkspaceError, branch_commit, empty_trash,
};

#[test]
fn a_workspace_has_a_repository_of_its_own_on_a_branch() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let area = area(&sandbox, &repo);
    // A file and a branch of the same name must not be mistaken for each other.
    write(&repo, "claude", "a file");
    commit_all(&repo, "claude");
    let workspace = opened(&area, "r1", "claude");
    assert!(!workspace.recycled());
    assert_eq!((workspace.owner(), workspace.branch()), ("r1", "claude"));
    assert_eq!(text(workspace.path(), &["symbolic-ref", "HEAD"]), "refs/heads/claude");
    assert_eq!(text(workspace.path(), &["rev-parse", "HEAD"]), oid(&repo, "main").to_string());
    assert_eq!(everything(workspace.path()), everything(&repo));
    assert_eq!(fs::metadata(&area.dir).unwrap().permissions().mode() & 0o777, 0o700);
    let slots = area.slots().unwrap();
    assert_eq!(slots.len(), 1);
    assert!(slots[0].live);
    assert!(usage(&slots[0].path).bytes > 0);
    let claimed = SlotState::Claimed { owner: "r1".to_owned(), branch: "claude".to_owned() };
    assert_eq!(slots[0].state, claimed);

    assert_eq!(branch_commit(&area.repo, "claude").unwrap(), None, "nothing was done yet");
    let done = commit_all_new(workspace.path());
    workspace.publish_commits().unwrap();
    workspace.release().unwrap();
    let slots = area.slots().unwrap();
    assert_eq!((slots[0].live, &slots[0].state), (false, &SlotState::Free));
    assert_eq!(branch_commit(&area.repo, "claude").unwrap(), Some(done.clone()));
    let again = area.open(&continued("r2", "claude")).unwrap();
    assert!(again.recycled());
    assert_eq!(text(again.path(), &["symbolic-ref", "HEAD"]), "refs/heads/claude");
    assert_eq!((oid(again.path(), "HEAD"), again.published()), (done.clone(), Some(done)));
}

fn commit_all_new(path: &std::path::Path) -> fleet_host::git::Oid {
    write(path, "new", "x");
    commit_all(path, "new")
}

#[test]
fn hooks_are_not_run() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    for _ in 0..2 {
        let run = Run::of(Sandbox::new(), repo.clone());
        write(run.path(), "new", "x");
        git(run.path(), &["add", "new"]);
        git(run.path(), &["commit", "--quiet", "--message=new"]);
        write(run.path(), "new", "y");
        run.published();
        text(&repo, &["-c", "core.hooksPath=/dev/null", "branch", "--quiet", "--delete", "--force", "work"]);
        run.workspace.release().unwrap();
    }
    assert!(!hook_ran(&repo));
    // They would have been, by git as others run it.
    write(&repo, "new", "x");
    git(&repo, &["add", "new"]);
    assert!(hook_ran(&repo));
}

#[test]
fn a_recycled_workspace_shows_nothing_of_the_earlier_task() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let area = area(&sandbox, &repo);
    let first = opened(&area, "r1", "one");
    let (path, admin) = (first.path().to_owned(), first.checkout().unwrap().git_dir);
    write_odd_files(&path);
    write(&path, "target/debug/out", "ignored");
    write(&path, "x.log", "ignored");
    fs::create_dir_all(path.join("empty/folder")).unwrap();
    git(&path, &["add", "tool.sh"]);
    write(&path, "README.md", "changed");
    fs::create_dir_all(path.join("inner")).unwrap();
    git(&path.join("inner"), &["init", "--quiet"]);
    write(&path, "inner/file", "x");
    git(&path, &["config", "--local", "core.trustctime", "false"]);
    git(&path, &["update-index", "--skip-worktree", ".gitignore"]);
    write(&path, ".gitignore", "nothing\n");
    git(&path, &["config", "core.repositoryFormatVersion", "1"]);
    git(&path, &["config", "extensions.worktreeConfig", "true"]);
    git(&path, &["config", "--worktree", "user.name", "Someone Else"]);
    git(&path, &["update-ref", "refs/worktree/mine", "HEAD"]);
    for state in ["MERGE_HEAD", "ORIG_HEAD", "rebase-merge/done", "info/sparse-checkout", "index.lock"] {
        write(&admin, state, oid(&repo, "main").as_str());
    }
    first.release().unwrap();

    let second = opened(&area, "r2", "two");
    assert!(second.recycled());
    assert_eq!(second.path(), path);
    assert_eq!(everything(&path), everything(&repo));
    assert!(!path.join("empty").exists());
    let mut kept: Vec<_> = fs::read_dir(&admin).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    kept.sort();
    assert_eq!(kept, ["HEAD", "commondir", "gitdir", "given.json", "index"]);
    assert_eq!(text(&path, &["reflog", "--format=%gs"]), "", "not even its reflog");
    assert_eq!(text(&path, &["for-each-ref", "--format=%(refname)", "refs/worktree"]), "");
    assert_eq!(text(&path, &["status", "--porcelain", "--ignored"]), "");
}

#[test]
fn ignored_files_stay_only_where_that_is_wanted() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let area = Area { keep: KeepFiles::Ignored, ..area(&sandbox, &repo) };
    let mut first = opened(&area, "r1", "one");
    let path = first.path().to_owned();
    first.note_private(&[".env".to_owned(), "config/.env".to_owned()]).unwrap();
    write(&path, ".env", "secret");
    write(&path, "target/cache", "warm");
    write(&path, "untracked", "x");
    // An agent that leads the path of a credential elsewhere must not get that removed.
    let elsewhere = sandbox.folder("elsewhere");
    write(&elsewhere, ".env", "the user's own");
    std::os::unix::fs::symlink(&elsewhere, path.join("config")).unwrap();
    first.release().unwrap();
    let second = opened(&area, "r2", "two");
    assert!(second.recycled());
    assert!(path.join("target/cache").exists());
    assert!(!path.join("untracked").exists());
    assert!(!path.join(".env").exists());
    assert!(elsewhere.join(".env").exists());
}

#[test]
fn parallel_opens_get_workspaces_of_their_own() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let area = Area { pool: 8, ..area(&sandbox, &repo) };
    for round in 0..2 {
        let workspaces: Vec<_> = thread::scope(|scope| {
            let open = |number| {
                let area = &area;
                scope
                    .spawn(move || opened(area, &format!("r{round}-{number}"), &format!("b{round}/{number}")))
            };
            let threads: Vec<_> = (0..8).map(open).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let paths: BTreeSet<_> = workspaces.iter().map(|one| one.path().to_owned()).collect();
        assert_eq!(paths.len(), 8);
        for workspace in workspaces {
            assert!(is_clean(workspace.path()));
            assert_eq!(workspace.recycled(), round == 1);
            assert_eq!(text(workspace.path(), &["symbolic-ref", "--short", "HEAD"]), workspace.branch());
            workspace.release().unwrap();
        }
    }
}

#[test]
fn names_that_are_taken_and_branches_in_use_are_refused() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let area = area(&sandbox, &repo);
    git(&repo, &["-c", "core.hooksPath=/dev/null", "branch", "feature"]);
    // Both ways: with an empty pool and with a warm worktree, which must survive the refusal.
    for warm in [false, true] {
        for taken in ["feature", "feature/a"] {
            let error = area.open(&fresh(&area, "r", taken)).unwrap_err();
            assert!(matches!(error, WorkspaceError::Git(GitError::BranchTaken { .. })), "{error}");
        }
        let error = area.open(&continued("r", "main")).unwrap_err();
        assert!(matches!(&error, WorkspaceError::BranchInUse { place, .. } if *place == repo), "{error}");
        let error = area.open(&continued("r", "nothing")).unwrap_err();
        assert!(matches!(error, WorkspaceError::NoSuchBranch { .. }), "{error}");
        let error = area.open(&continued("r", "--all")).unwrap_err();
        assert!(matches!(error, WorkspaceError::Git(GitError::Refused(_))), "{error}");
        let workspace = opened(&area, "r", &format!("feature-{warm}"));
        assert_eq!(workspace.recycled(), warm);
        workspace.release().unwrap();
        assert!(area.slots().unwrap().iter().all(|slot| slot.state == SlotState::Free));
    }
}

#[test]
fn two_repositories_of_one_name_stay_apart() {
    let sandbox = Sandbox::new();
    let (one, two) = (project(&sandbox, "a/shop"), project(&sandbox, "b/shop"));
    let first = area(&sandbox, &one);
    let second = crate::support::area_of(&two.join(".git"), &sandbox.path("home/shop-2"));
    write(&two, "only here", "x");
    commit_all(&two, "of the second");
    opened(&first, "r1", "x").release().unwrap();
    // Even by mistake in the same folder: a workspace of another repository is never trusted.
    let mistaken = Area { dir: first.dir.clone(), ..second.clone() };
    let workspace = opened(&mistaken, "r2", "x");
    assert!(!workspace.recycled());
    assert_eq!(everything(workspace.path()), everything(&two));
    assert_eq!(oid(workspace.path(), "main"), oid(&two, "main"));
    workspace.release().unwrap();
    opened(&second, "r3", "y").release().unwrap();
}

#[test]
fn the_pool_has_a_bound_and_the_trash_is_emptied_in_steps() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let area = Area { pool: 2, ..area(&sandbox, &repo) };
    let workspaces: Vec<_> =
        (0..5).map(|number| opened(&area, &format!("r{number}"), &format!("b{number}"))).collect();
    for workspace in workspaces {
        fs::create_dir_all(workspace.path().join("target/closed")).unwrap();
        write(workspace.path(), "target/closed/file", "x");
        fs::set_permissions(workspace.path().join("target/closed"), fs::Permissions::from_mode(0o500))
            .unwrap();
        workspace.release().unwrap();
    }
    let free = |area: &Area| area.slots().unwrap().len();
    assert!(free(&area) <= 2);
    let before = free(&area);
    let none = Area { pool: 0, ..area.clone() };
    assert_eq!(none.trim(Millis(0)).unwrap(), 0, "they were used since");
    assert_eq!(none.trim(Millis(i64::MAX / 2)).unwrap(), before);
    assert_eq!(free(&area), 0);
    assert_eq!(text(&repo, &["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
    let pace = Pace { at_most: 3, pause_every: 0, pause: std::time::Duration::ZERO };
    let step = empty_trash(&area.trash, pace).unwrap();
    assert_eq!((step.removed, step.empty), (3, false));
    let rest = empty_trash(&area.trash, Pace { at_most: u64::MAX, ..pace }).unwrap();
    assert!(rest.empty && rest.bytes > 0 && rest.failed == 0, "{rest:?}");
    assert!(empty_trash(&sandbox.path("no such folder"), pace).unwrap().empty);
}

#[test]
fn emptying_the_trash_follows_no_link() {
    let sandbox = Sandbox::new();
    let (trash, elsewhere) = (sandbox.folder("trash"), sandbox.folder("elsewhere"));
    write(&elsewhere, "keep", "x");
    fs::create_dir_all(trash.join("old")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, trash.join("old/link")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, trash.join("link")).unwrap();
    let pace = Pace { at_most: u64::MAX, pause_every: 1, pause: std::time::Duration::from_micros(1) };
    let done = empty_trash(&trash, pace).unwrap();
    assert_eq!((done.removed, done.empty), (3, true));
    assert!(elsewhere.join("keep").exists());
}

/// Deeper than the system takes a path, which an agent can make step by step.
#[test]
fn folders_of_any_depth_are_removed() {
    let sandbox = Sandbox::new();
    let trash = sandbox.folder("trash");
    let mut folder = fs::File::open(&trash).unwrap();
    for _ in 0..2_500 {
        rustix::fs::mkdirat(&folder, "d", rustix::fs::Mode::RWXU).unwrap();
        let flags = rustix::fs::OFlags::RDONLY;
        folder = rustix::fs::openat(&folder, "d", flags, rustix::fs::Mode::empty()).unwrap().into();
    }
    drop(folder);
    let pace = Pace { at_most: u64::MAX, pause_every: 0, pause: std::time::Duration::ZERO };
    let done = empty_trash(&trash, pace).unwrap();
    assert_eq!((done.removed, done.failed, done.empty), (2_500, 0, true));
}
