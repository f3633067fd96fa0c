//! Workspaces in which nothing was done.

use std::fs;

use crate::sandbox::{Sandbox, git};
use crate::support::{area, everything, oid, opened, project, text, write};
use fleet_host::git::{Area, Keep, SlotState, delete_branch};

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
        let path = workspace.path().to_owned();
        let seen = workspace.untouched(&base).expect("nothing was done");
        workspace.release_untouched(&seen).unwrap();
        assert_eq!(area.slots().unwrap()[0].state, SlotState::Free);
        assert_eq!(text(&path, &["rev-parse", "--abbrev-ref", "HEAD"]), "HEAD", "the branch is free");
        assert_eq!(text(&path, &["rev-parse", "HEAD"]), base.to_string());
        assert!(!admin.join("ORIG_HEAD").exists() && !admin.join("logs").exists());
        assert!(delete_branch(&area.repo, &branch, &base).unwrap());
    }
    assert_eq!(area.slots().unwrap().len(), 1);
}

type Deed<'a> = (&'a str, &'a dyn Fn(&std::path::Path));

#[test]
fn whatever_was_done_is_seen() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let (area, base) = (area(&sandbox, &repo), oid(&repo, "main"));
    let quiet = ["-c", "core.hooksPath=/dev/null"];
    let committed = [&quiet[..], &["commit", "--quiet", "--allow-empty", "--message=x"]].concat();
    let detached = [&quiet[..], &["checkout", "--quiet", "--detach"]].concat();
    let deeds: [Deed<'_>; 7] = [
        ("a change", &|path| write(path, "README.md", "changed")),
        ("a new file", &|path| write(path, "new/file", "new")),
        ("a file that is gone", &|path| fs::remove_file(path.join("README.md")).unwrap()),
        ("a commit", &|path| git(path, &committed)),
        ("a commit beside the branch", &|path| {
            git(path, &detached);
            git(path, &committed);
        }),
        ("something staged alone", &|path| {
            write(path, "README.md", "staged");
            git(path, &["add", "README.md"]);
            write(path, "README.md", "# project\n");
        }),
        ("a change that git is told not to see", &|path| {
            git(path, &["update-index", "--assume-unchanged", "README.md"]);
            write(path, "README.md", "hidden");
        }),
    ];
    for (number, (what, deed)) in deeds.iter().enumerate() {
        let workspace = opened(&area, "r", &format!("deed-{number}"));
        assert!(workspace.untouched(&base).is_some(), "before {what}");
        deed(workspace.path());
        assert!(workspace.untouched(&base).is_none(), "{what}");
        workspace.release().unwrap();
    }
}

#[test]
fn what_git_does_not_speak_of_is_not_left_to_the_next() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let base = oid(&repo, "main");
    for keep in [Keep::Nothing, Keep::Ignored] {
        let area = Area { keep, ..area(&sandbox, &repo) };
        let name = |what: &str| format!("{what}-{}", keep == Keep::Ignored);
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
        assert_eq!(path.join("target/cache").exists(), keep == Keep::Ignored);
        second.release().unwrap();
        let third = opened(&area, "r3", &name("three"));
        fs::create_dir_all(path.join("empty/folder")).unwrap();
        let seen = third.untouched(&base).expect("nothing but an empty folder");
        third.release_untouched(&seen).unwrap();
        assert!(!path.join("empty").exists());
        fs::remove_dir_all(&area.dir).unwrap();
        git(&repo, &["worktree", "prune"]);
        assert_eq!(everything(&repo).len(), 3);
    }
}
