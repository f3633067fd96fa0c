//! Workspaces in which nothing was done.

use std::fs;
use std::time::Duration;

use fleet_testkit::wait_until;

use crate::crash::child;
use crate::sandbox::{Sandbox, git};
use crate::support::{Run, area, everything, oid, opened, project, write};
use fleet_host::git::{Area, KeepFiles, SlotState, branch_commit};

#[test]
fn one_in_which_nothing_was_done_goes_back_as_it_is() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let (area, base) = (area(&sandbox, &repo), oid(&repo, "main"));
    for round in 0..3 {
        let branch = format!("work-{round}");
        let workspace = opened(&area, "r", &branch);
        assert_eq!(workspace.recycled(), round > 0);
        // Those who only look refresh the index.
        git(workspace.path(), &["status"]);
        git(workspace.path(), &["update-index", "--refresh"]);
        let admin = workspace.checkout().unwrap().git_dir;
        write(&admin, "ORIG_HEAD", base.as_str());
        let seen = workspace.untouched(&base).expect("nothing was done");
        workspace.release_untouched(&seen).unwrap();
        assert_eq!(area.slots().unwrap()[0].state, SlotState::Free);
        assert_eq!(fs::read_to_string(admin.join("HEAD")).unwrap().trim_end(), base.as_str());
        assert!(!admin.join("ORIG_HEAD").exists() && !admin.join("logs").exists());
        assert_eq!(branch_commit(&area.repo, &branch).unwrap(), None, "nothing was published");
    }
    assert_eq!(area.slots().unwrap().len(), 1);
}

type Deed<'a> = (&'a str, &'a dyn Fn(&Run));

#[test]
fn whatever_was_done_is_seen() {
    let deeds: [Deed<'_>; 11] = [
        ("a change", &|run| write(run.path(), "README.md", "changed")),
        ("a new file", &|run| write(run.path(), "new/file", "new")),
        ("a file that is gone", &|run| fs::remove_file(run.path().join("README.md")).unwrap()),
        ("a commit", &|run| git(run.path(), &["commit", "--quiet", "--allow-empty", "--message=x"])),
        ("a commit beside the branch", &|run| {
            git(run.path(), &["checkout", "--quiet", "--detach"]);
            git(run.path(), &["commit", "--quiet", "--allow-empty", "--message=x"]);
        }),
        ("a commit on another branch", &|run| {
            git(run.path(), &["checkout", "--quiet", "-b", "mine"]);
            git(run.path(), &["commit", "--quiet", "--allow-empty", "--message=x"]);
            git(run.path(), &["checkout", "--quiet", "work"]);
        }),
        ("a tag", &|run| git(run.path(), &["tag", "--annotate", "--message=x", "mine"])),
        ("a stash", &|run| {
            write(run.path(), "README.md", "stashed");
            git(run.path(), &["stash", "--quiet"]);
        }),
        ("something staged alone", &|run| {
            write(run.path(), "README.md", "staged");
            git(run.path(), &["add", "README.md"]);
            write(run.path(), "README.md", "# project\n");
        }),
        ("a change that git is told not to see", &|run| {
            git(run.path(), &["update-index", "--assume-unchanged", "README.md"]);
            write(run.path(), "README.md", "hidden");
        }),
        ("a repository that is gone", &|run| fs::remove_dir_all(run.dot_git()).unwrap()),
    ];
    for (what, deed) in deeds {
        let run = Run::new();
        let base = oid(&run.repo, "main");
        assert!(run.workspace.untouched(&base).is_some(), "before {what}");
        deed(&run);
        assert!(run.workspace.untouched(&base).is_none(), "{what}");
        run.workspace.release().unwrap();
    }
}

/// A warm workspace is had, looked at and given back where there is no git at all.
#[test]
fn a_warm_workspace_needs_no_git() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let (area, base) = (area(&sandbox, &repo), oid(&repo, "main"));
    let empty = sandbox.folder("empty");
    // Files that are too young cannot be told by their times.
    wait_until(Duration::from_mins(1), "files that are old enough", || {
        let workspace = opened(&area, "r", "warm");
        let seen = workspace.untouched(&base).unwrap();
        let is_soon_told = workspace.is_quick_to_check();
        workspace.release_untouched(&seen).unwrap();
        is_soon_told
    });
    let home = area.dir.parent().unwrap().to_str().unwrap();
    let places = [area.repo.to_str().unwrap(), home];
    child("warm", &places).env("PATH", empty.to_str().unwrap()).env("BASE", base.as_str()).run();
}

/// The rest of the test above.
pub(crate) fn without_git(area: &Area) {
    let base = fleet_host::git::Oid::parse(&std::env::var("BASE").unwrap()).unwrap();
    let start = fleet_host::git::StartAt::New(base.clone());
    for branch in ["one", "two"] {
        let open = fleet_host::git::OpenRequest::new("r", branch, start.clone());
        let workspace = area.open(&open).unwrap();
        assert!(workspace.recycled());
        let head = fs::read_to_string(workspace.path().join(".git/HEAD")).unwrap();
        assert_eq!(head, format!("ref: refs/heads/{branch}\n"));
        let seen = workspace.untouched(&base).unwrap();
        workspace.release_untouched(&seen).unwrap();
    }
}

#[test]
fn what_git_does_not_speak_of_is_not_left_to_the_next() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let base = oid(&repo, "main");
    for keep in [KeepFiles::Nothing, KeepFiles::Ignored] {
        let area = Area { keep, ..area(&sandbox, &repo) };
        let name = |what: &str| format!("{what}-{}", keep == KeepFiles::Ignored);
        let mut first = opened(&area, "r1", &name("one"));
        let path = first.path().to_owned();
        first.note_private(&[".env".to_owned()]).unwrap();
        write(&path, ".env", "secret");
        write(&path, "target/cache", "warm");
        fs::create_dir_all(path.join("empty/folder")).unwrap();
        let seen = first.untouched(&base).expect("nothing but what is ignored");
        first.release_untouched(&seen).unwrap();
        let second = opened(&area, "r2", &name("two"));
        assert!(second.recycled());
        assert!(!path.join(".env").exists() && !path.join("empty").exists());
        assert_eq!(path.join("target/cache").exists(), keep == KeepFiles::Ignored);
        second.release().unwrap();
        let third = opened(&area, "r3", &name("three"));
        fs::create_dir_all(path.join("empty/folder")).unwrap();
        let seen = third.untouched(&base).expect("nothing but an empty folder");
        third.release_untouched(&seen).unwrap();
        assert!(!path.join("empty").exists());
        fs::remove_dir_all(&area.dir).unwrap();
        assert_eq!(everything(&repo).len(), 3);
    }
}
