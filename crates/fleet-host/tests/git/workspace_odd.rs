//! Workspaces after people and agents did things to them that nobody expects.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::sandbox::{Sandbox, git};
use crate::support::{
    area, content, everything, is_clean, names, oid, opened, project, request, text, write,
};
use fleet_host::git::{SlotState, TakeSnapshot, WorkspaceError, take_snapshot};

/// What is done to a worktree, by its folder and its git directory.
type Deed<'a> = (&'a str, &'a dyn Fn(&Path, &Path));

#[test]
fn damaged_free_worktrees_are_never_trusted() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let area = area(&sandbox, &repo);
    let damages: [Deed<'_>; 7] = [
        ("folder removed", &|path, _| fs::remove_dir_all(path).unwrap()),
        ("metadata removed", &|_, admin| fs::remove_dir_all(admin).unwrap()),
        ("gitdir points elsewhere", &|_, admin| fs::write(admin.join("gitdir"), "/nowhere/.git\n").unwrap()),
        ("index damaged", &|_, admin| fs::write(admin.join("index"), "rubbish").unwrap()),
        ("HEAD damaged", &|_, admin| fs::write(admin.join("HEAD"), "rubbish").unwrap()),
        ("a file of someone", &|path, _| write(path, "new", "x")),
        ("a tracked file changed", &|path, _| write(path, "README.md", "edited by hand")),
    ];
    for (number, (what, damage)) in damages.into_iter().enumerate() {
        let first = opened(&area, "warm", &format!("warm-{number}"));
        let (path, admin) = (first.path().to_owned(), first.checkout().unwrap().git_dir);
        first.release().unwrap();
        damage(&path, &admin);
        let next = opened(&area, "next", &format!("next-{number}"));
        assert!(!next.recycled(), "{what}");
        assert_eq!(everything(next.path()), everything(&repo), "{what}");
        assert_eq!(text(next.path(), &["rev-parse", "HEAD"]), oid(&repo, "main").to_string(), "{what}");
        assert!(is_clean(next.path()), "{what}");
        next.release().unwrap();
    }
    // What someone wrote into a free worktree was moved aside, not destroyed.
    let aside = fs::read_dir(&area.trash).unwrap().map(|entry| entry.unwrap().path());
    assert!(aside.into_iter().any(|path| path.join("new").exists()));
}

/// Git neither lists nor removes them.
#[test]
fn pipes_and_sockets_are_not_passed_on() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let area = area(&sandbox, &repo);
    let first = opened(&area, "r1", "one");
    let path = first.path().to_owned();
    write(&path, "new", "x");
    for pipe in [".gitmodules", "Makefile"] {
        assert!(Command::new("mkfifo").arg(path.join(pipe)).status().unwrap().success());
    }
    let _socket = std::os::unix::net::UnixListener::bind(path.join("socket")).unwrap();
    first.release().unwrap();
    let next = opened(&area, "r2", "two");
    assert!(next.recycled() && next.path() == path);
    for name in [".gitmodules", "Makefile", "socket", "new"] {
        assert!(fs::symlink_metadata(path.join(name)).is_err(), "{name}");
    }
}

/// The files of such a workspace are good, and its repository is made anew.
#[test]
fn a_free_workspace_without_its_repository_gets_a_new_one() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let area = area(&sandbox, &repo);
    let outside = sandbox.repository("outside");
    write(&outside, "keep", "x");
    let before = everything(&outside);
    let damages: [Deed<'_>; 4] = [
        ("removed", &|_, _| {}),
        ("points elsewhere", &|path, _| {
            fs::write(path.join(".git"), format!("gitdir: {}/.git\n", outside.display())).unwrap();
        }),
        ("a link", &|path, _| {
            std::os::unix::fs::symlink(outside.join(".git"), path.join(".git")).unwrap();
        }),
        ("another's", &|path, _| git(path, &["init", "--quiet"])),
    ];
    for (number, (what, damage)) in damages.into_iter().enumerate() {
        let first = opened(&area, "warm", &format!("warm-{number}"));
        let path = first.path().to_owned();
        first.release().unwrap();
        fs::remove_dir_all(path.join(".git")).unwrap();
        damage(&path, &path);
        let next = opened(&area, "next", &format!("next-{number}"));
        assert!(next.recycled(), "{what}");
        assert_eq!(everything(next.path()), everything(&repo), "{what}");
        assert_eq!(oid(next.path(), "HEAD"), oid(&repo, "main"), "{what}");
        assert!(is_clean(next.path()), "{what}");
        next.release().unwrap();
    }
    assert_eq!(everything(&outside), before);
    assert_eq!(text(&outside, &["symbolic-ref", "HEAD"]), "refs/heads/main");
}

#[test]
fn whatever_an_agent_did_to_its_workspace_it_can_be_kept_and_given_back() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let area = area(&sandbox, &repo);
    let no_hooks =
        |path: &Path, args: &[&str]| git(path, &[&["-c", "core.hooksPath=/dev/null"], args].concat());
    let deeds: [Deed<'_>; 9] = [
        ("detached", &|path, _| no_hooks(path, &["checkout", "--quiet", "--detach"])),
        ("own branch", &|path, _| no_hooks(path, &["checkout", "--quiet", "-b", "mine"])),
        ("orphan", &|path, _| no_hooks(path, &["checkout", "--quiet", "--orphan", "unborn"])),
        ("no .git", &|path, _| fs::remove_dir_all(path.join(".git")).unwrap()),
        ("own repository", &|path, _| {
            fs::remove_dir_all(path.join(".git")).unwrap();
            git(path, &["init", "--quiet"]);
        }),
        ("our folder removed", &|_, admin| fs::remove_dir_all(admin).unwrap()),
        ("locked index", &|path, _| fs::write(path.join(".git/index.lock"), "").unwrap()),
        ("stash", &|path, _| {
            write(path, "README.md", "stashed");
            no_hooks(path, &["stash", "--quiet"]);
        }),
        ("damaged index", &|path, _| fs::write(path.join(".git/index"), "rubbish").unwrap()),
    ];
    for (number, (what, deed)) in deeds.into_iter().enumerate() {
        let workspace = opened(&area, &format!("r{number}"), &format!("b{number}"));
        let checkout = workspace.checkout().unwrap();
        let path = workspace.path().to_owned();
        deed(&path, &checkout.git_dir);
        write(&path, "work", what);
        drop(workspace);

        let adopted = area.adopt(&format!("r{number}")).unwrap().expect(what);
        let collected = adopted.collect().unwrap();
        let checkout = adopted.checkout().unwrap();
        let snapshot = take_snapshot(&TakeSnapshot { run: &format!("r{number}"), ..request(&checkout) });
        assert_eq!(content(&area.vault, &snapshot.unwrap().commit, "work"), what);
        let is_stash = |what: &str| what == "stash";
        assert_eq!(collected.others.iter().any(|other| is_stash(&other.what)), is_stash(what));
        adopted.release().unwrap();
        let next = opened(&area, "next", &format!("next-{number}"));
        assert_eq!(everything(next.path()), everything(&repo), "{what}");
        next.release().unwrap();
    }
    assert_eq!(text(&repo, &["stash", "list"]), "", "a stash is the agent's own");
}

#[test]
fn a_worktree_that_the_agent_removed_is_reported_and_given_back() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let area = area(&sandbox, &repo);
    let workspace = opened(&area, "r1", "one");
    fs::remove_dir_all(workspace.path()).unwrap();
    let error = workspace.checkout().unwrap_err();
    assert!(error.to_string().contains("the folder is gone"), "{error}");
    workspace.release().unwrap();
    let next = opened(&area, "r2", "two");
    assert_eq!(everything(next.path()), everything(&repo));
    assert_eq!(text(&repo, &["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
}

#[test]
fn claims_are_respected_and_damaged_ones_are_left_to_people() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let area = area(&sandbox, &repo);
    let first = opened(&area, "r1", "one");
    let path = first.path().to_owned();
    assert!(matches!(area.adopt("r1"), Err(WorkspaceError::InUse { .. })));
    write(&path, "work", "x");
    drop(first);
    // Dead, but not free: another run gets another place.
    let second = opened(&area, "r2", "two");
    assert_ne!(second.path(), path);
    assert!(area.adopt("r3").unwrap().is_none());
    let adopted = area.adopt("r1").unwrap().unwrap();
    assert_eq!((adopted.branch(), adopted.path()), ("one", path.as_path()));
    assert!(path.join("work").exists());
    drop(adopted);

    fs::write(path.with_extension("json"), "{").unwrap();
    let third = opened(&area, "r3", "three");
    assert_ne!(third.path(), path);
    assert!(area.adopt("r1").unwrap().is_none());
    let slots = area.slots().unwrap();
    assert_eq!(slots[0].state, SlotState::Damaged);
    assert!(!area.remove(&slots[1]).unwrap(), "a run has it");
    assert!(area.remove(&slots[0]).unwrap());
    assert!(!path.exists());
}

#[test]
fn private_paths_survive_the_process() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let area = area(&sandbox, &repo);
    let mut workspace = opened(&area, "r1", "one");
    workspace.note_private(&["b.key".to_owned(), "a.key".to_owned()]).unwrap();
    workspace.note_private(&["b.key".to_owned()]).unwrap();
    drop(workspace);
    let adopted = area.adopt("r1").unwrap().unwrap();
    assert_eq!(adopted.private(), ["a.key", "b.key"]);
    write(adopted.path(), "a.key", "hush");
    let checkout = adopted.checkout().unwrap();
    let request = TakeSnapshot { exclude: adopted.private(), ..request(&checkout) };
    let snapshot = take_snapshot(&request).unwrap();
    assert!(!names(&area.vault, &snapshot.tree).contains(&"a.key".to_owned()));
}

#[test]
fn the_users_sparse_checkout_is_not_inherited() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let files = everything(&repo);
    text(&repo, &["sparse-checkout", "set", "--no-cone", "/README.md"]);
    assert!(!repo.join("src").exists());
    let area = area(&sandbox, &repo);
    for number in 0..2 {
        let workspace = opened(&area, "r", &format!("b{number}"));
        assert_eq!(everything(workspace.path()), files);
        assert_eq!(text(workspace.path(), &["status", "--porcelain"]), "");
        workspace.release().unwrap();
    }
}

#[test]
fn what_no_snapshot_can_take_is_set_aside_as_it_is() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let area = area(&sandbox, &repo);
    let workspace = opened(&area, "run", "odd");
    // A repository inside that git cannot read: what is in it gets into no tree of ours.
    write(workspace.path(), "inner/.git/HEAD", "rubbish");
    write(workspace.path(), "inner/.git/objects/rubbish", "x");
    write(workspace.path(), "inner/.git/refs/rubbish", "x");
    write(workspace.path(), "plain", "kept by the snapshot");
    let snapshot = take_snapshot(&request(&workspace.checkout().unwrap())).unwrap();
    let folder = area.trash.with_file_name("kept");
    let before = everything(workspace.path());
    workspace.set_aside(&folder).unwrap();
    let mut all = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let kept = all.find(|path| path.join("plain").exists()).unwrap();
    assert_eq!(everything(&kept), before, "skipped: {:?}", snapshot.skips);
    assert!(area.adopt("run").unwrap().is_none(), "the slot is free");
    let next = opened(&area, "next", "even");
    assert!(!next.path().join("plain").exists());
    next.release().unwrap();
}

#[test]
fn a_link_in_the_place_of_a_worktree_leads_nowhere() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let area = area(&sandbox, &repo);
    let precious = sandbox.repository("precious");
    fs::remove_dir_all(precious.join(".git")).unwrap();
    write(&precious, "diary.log", "dear diary");
    let before = everything(&precious);
    for number in 0..2 {
        let workspace = opened(&area, "run", &format!("odd-{number}"));
        let path = workspace.path().to_owned();
        fs::rename(&path, path.with_file_name(format!("moved-{number}"))).unwrap();
        std::os::unix::fs::symlink(&precious, &path).unwrap();
        assert!(workspace.checkout().is_err(), "nothing is looked at through a link");
        workspace.release().unwrap();
        assert_eq!(everything(&precious), before, "nor cleaned");
        assert!(fs::symlink_metadata(&path).is_err(), "the link is gone");
    }
    let next = opened(&area, "next", "even");
    assert_ne!(fs::canonicalize(next.path()).unwrap(), fs::canonicalize(&precious).unwrap());
    next.release().unwrap();
    assert_eq!(everything(&precious), before);
}
