//! Snapshots of work trees in disorder.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::sandbox::{git, try_git};
use crate::support::{Run, content, everything, names, oid, write, write_odd_files};
use fleet_host::git::SkippedWhy;

const NO_HOOKS: [&str; 2] = ["-c", "core.hooksPath=/dev/null"];

fn quiet_git(run: &Run, arguments: &[&str]) {
    git(run.path(), &[&NO_HOOKS, arguments].concat());
}

#[test]
fn while_the_agent_holds_the_index() {
    let run = Run::new();
    write(&run.dot_git(), "index.lock", "");
    write(run.path(), "new", "x");
    let snapshot = run.taken();
    assert!(names(run.vault(), &snapshot.tree).contains(&"new".to_owned()));
    assert!(run.dot_git().join("index.lock").exists());
}

#[test]
fn in_the_middle_of_a_merge() {
    let run = Run::new();
    let work = run.path();
    write(work, "README.md", "ours\n");
    quiet_git(&run, &["commit", "--quiet", "--all", "--message=ours"]);
    quiet_git(&run, &["checkout", "--quiet", "-b", "other", "HEAD~"]);
    write(work, "README.md", "theirs\n");
    write(work, "only-theirs", "x");
    git(work, &["add", "only-theirs"]);
    quiet_git(&run, &["commit", "--quiet", "--all", "--message=theirs"]);
    quiet_git(&run, &["checkout", "--quiet", "work"]);
    assert!(!try_git(work, &[&NO_HOOKS[..], &["merge", "--quiet", "other"]].concat()).status.success());
    let index = fs::read(run.dot_git().join("index")).unwrap();
    let snapshot = run.taken();
    assert!(content(run.vault(), &snapshot.tree, "README.md").contains("<<<<<<<"));
    assert_eq!(content(run.vault(), &snapshot.tree, "only-theirs"), "x");
    assert_eq!(fs::read(run.dot_git().join("index")).unwrap(), index);
    assert!(!run.taken().fresh);
}

#[test]
fn before_a_first_commit() {
    let run = Run::new();
    quiet_git(&run, &["checkout", "--quiet", "--orphan", "unborn"]);
    write(run.path(), "new", "x");
    git(run.path(), &["add", "new"]);
    let snapshot = run.taken();
    // A branch without a commit is nowhere: what is kept stands on what was known before.
    assert_eq!(snapshot.head, Some(oid(&run.repo, "main")));
    assert_eq!(names(run.vault(), &snapshot.tree), [".gitignore", "README.md", "new", "src/main.rs"]);
    assert!(!run.taken().fresh);
}

#[test]
fn with_a_damaged_or_missing_index() {
    let run = Run::new();
    let work = run.path();
    // Tracked although it is ignored: an empty index would not know it.
    write(work, "kept.log", "x");
    git(work, &["add", "--force", "kept.log"]);
    quiet_git(&run, &["commit", "--quiet", "--message=log"]);
    write(work, "new", "x");
    let index = run.dot_git().join("index");
    let expected = [".gitignore", "README.md", "kept.log", "new", "src/main.rs"];
    for damage in ["", "DIRC", "nothing like an index", "remove"] {
        match damage {
            "remove" => fs::remove_file(&index).unwrap(),
            damage => fs::write(&index, damage).unwrap(),
        }
        assert_eq!(names(run.vault(), &run.taken().tree), expected, "{damage:?}");
    }
}

#[test]
fn with_files_hidden_from_git() {
    let run = Run::new();
    let work = run.path();
    git(work, &["update-index", "--skip-worktree", "README.md"]);
    git(work, &["update-index", "--assume-unchanged", "src/main.rs"]);
    write(work, "README.md", "hidden\n");
    write(work, "src/main.rs", "hidden too\n");
    let index = fs::read(run.dot_git().join("index")).unwrap();
    let snapshot = run.taken();
    assert_eq!(content(run.vault(), &snapshot.tree, "README.md"), "hidden\n");
    assert_eq!(content(run.vault(), &snapshot.tree, "src/main.rs"), "hidden too\n");
    assert_eq!(fs::read(run.dot_git().join("index")).unwrap(), index);
}

#[test]
fn with_a_sparse_checkout_what_is_not_there_is_not_removed() {
    let run = Run::new();
    quiet_git(&run, &["sparse-checkout", "set", "--no-cone", "/README.md"]);
    assert!(!run.path().join("src").exists());
    write(run.path(), "README.md", "sparse\n");
    let snapshot = run.taken();
    assert_eq!(names(run.vault(), &snapshot.tree), [".gitignore", "README.md", "src/main.rs"]);
    assert_eq!(content(run.vault(), &snapshot.tree, "README.md"), "sparse\n");
}

#[test]
fn with_files_folders_and_links_in_each_others_place() {
    let run = Run::new();
    let work = run.path();
    for path in ["folder/a", "folder/b", "linked/a", "file", "piped"] {
        write(work, path, path);
    }
    git(work, &["add", "--all"]);
    quiet_git(&run, &["commit", "--quiet", "--message=x"]);
    fs::remove_dir_all(work.join("folder")).unwrap();
    write(work, "folder", "a file now");
    fs::remove_file(work.join("file")).unwrap();
    write(work, "file/inside", "a folder now");
    let elsewhere = run.sandbox.folder("elsewhere");
    write(&elsewhere, "a", "not ours");
    fs::remove_dir_all(work.join("linked")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, work.join("linked")).unwrap();
    fs::remove_file(work.join("piped")).unwrap();
    for pipe in ["piped", "untracked pipe"] {
        assert!(Command::new("mkfifo").arg(work.join(pipe)).status().unwrap().success());
    }
    let snapshot = run.taken();
    assert_eq!(
        names(run.vault(), &snapshot.tree),
        [".gitignore", "README.md", "file/inside", "folder", "linked", "src/main.rs"]
    );
    assert_eq!(content(run.vault(), &snapshot.tree, "linked"), elsewhere.to_str().unwrap());
    assert_eq!(snapshot.skips.named[0].path, b"piped");
    assert_eq!(snapshot.skips.named[0].why, SkippedWhy::Special);
}

#[test]
fn with_files_that_cannot_be_read() {
    let run = Run::new();
    let work = run.path();
    write(work, "closed", "x");
    write(work, "open", "y");
    fs::set_permissions(work.join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    let snapshot = run.taken();
    let found = names(run.vault(), &snapshot.tree);
    assert!(found.contains(&"open".to_owned()));
    // Root may read everything.
    if fs::read(work.join("closed")).is_err() {
        assert_eq!(snapshot.skips.named[0].why, SkippedWhy::Unreadable);
    } else {
        assert!(found.contains(&"closed".to_owned()));
    }
}

#[test]
fn with_a_filter_that_fails() {
    let run = Run::of_project(|repo| {
        git(repo, &["config", "filter.broken.clean", "false"]);
        git(repo, &["config", "filter.broken.required", "true"]);
    });
    let work = run.path();
    write(work, ".gitattributes", "*.bin filter=broken\n");
    for number in 0..20 {
        write(work, &format!("plain{number}"), "x");
    }
    write(work, "data.bin", "raw bytes");
    let snapshot = run.taken();
    assert_eq!(snapshot.skips.total, 0);
    assert_eq!(content(run.vault(), &snapshot.tree, "data.bin"), "raw bytes");
    assert_eq!(names(run.vault(), &snapshot.tree).len(), 3 + 1 + 20 + 1);
}

#[test]
fn while_files_come_and_go() {
    let run = Run::new();
    let work = run.path();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 0;
            while !done.load(Ordering::Relaxed) {
                write(work, &format!("temporary/{}/{}", number % 7, number % 13), "x");
                write(work, "src/main.rs", number.to_string());
                if number % 5 == 0 {
                    let _ = fs::remove_dir_all(work.join("temporary"));
                    let _ = fs::remove_file(work.join("src/main.rs"));
                }
                number += 1;
            }
        });
        for _ in 0..8 {
            let snapshot = run.taken();
            assert!(names(run.vault(), &snapshot.tree).contains(&"README.md".to_owned()));
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_change_within_the_same_tick_of_the_clock() {
    let run = Run::new();
    for number in 10..25 {
        let text = format!("{number}");
        write(run.path(), "racy", "xx");
        git(run.path(), &["add", "racy"]);
        write(run.path(), "racy", &text);
        assert_eq!(content(run.vault(), &run.taken().tree, "racy"), text);
    }
}

#[test]
fn after_the_agent_removed_its_repository() {
    let run = Run::new();
    write_odd_files(run.path());
    fs::remove_dir_all(run.dot_git()).unwrap();
    let before = everything(run.path());
    let collected = run.collected();
    assert!(collected.unread.is_some(), "whatever was in it is lost, and that is told");
    let snapshot = run.taken();
    assert_eq!(names(run.vault(), &snapshot.tree).len(), before.len());
    assert_eq!(snapshot.head, Some(oid(&run.repo, "main")));
}
