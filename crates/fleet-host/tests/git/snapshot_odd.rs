//! Snapshots of work trees in disorder.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::sandbox::{Sandbox, git, try_git};
use crate::support::{
    content, everything, names, oid, project, taken, text, worktree, write, write_odd_files,
};
use fleet_host::git::{Checkout, SkippedWhy};

const NO_HOOKS: [&str; 2] = ["-c", "core.hooksPath=/dev/null"];

fn quiet_git(checkout: &Checkout, arguments: &[&str]) {
    git(&checkout.work_tree, &[&NO_HOOKS, arguments].concat());
}

fn start() -> (Sandbox, std::path::PathBuf, Checkout) {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let checkout = worktree(&sandbox, &repo);
    (sandbox, repo, checkout)
}

#[test]
fn while_the_agent_holds_the_index() {
    let (_sandbox, repo, checkout) = start();
    write(&checkout.git_dir, "index.lock", "");
    write(&checkout.work_tree, "new", "x");
    let snapshot = taken(&checkout);
    assert!(names(&repo, &snapshot.tree).contains(&"new".to_owned()));
    assert!(checkout.git_dir.join("index.lock").exists());
}

/// An agent in a sandbox may write its git directory, for commits. It must not get out of the sandbox by that.
#[test]
fn with_settings_that_an_agent_made_up() {
    let (sandbox, repo, checkout) = start();
    let (work, mark) = (&checkout.work_tree, sandbox.path("ran"));
    let other = work.join("other");
    git(work, &["init", "--quiet", "--bare", "other"]);
    let filter = format!("touch '{}'; cat", mark.display());
    git(&other, &["config", "filter.x.clean", &filter]);
    write(work, ".gitattributes", "* filter=x\n");
    write(work, "new", "x");
    write(&checkout.git_dir, "commondir", format!("{}\n", other.display()));
    let snapshot = taken(&checkout);
    assert!(names(&repo, &snapshot.tree).contains(&"new".to_owned()));
    assert!(!mark.exists(), "the filter of another repository ran");
    assert!(!checkout.has_own_settings());
    git(&repo, &["config", "extensions.worktreeConfig", "true"]);
    assert!(checkout.has_own_settings());
}

#[test]
fn in_the_middle_of_a_merge() {
    let (_sandbox, repo, checkout) = start();
    let work = &checkout.work_tree;
    write(work, "README.md", "ours\n");
    quiet_git(&checkout, &["commit", "--quiet", "--all", "--message=ours"]);
    quiet_git(&checkout, &["checkout", "--quiet", "-b", "other", "HEAD~"]);
    write(work, "README.md", "theirs\n");
    write(work, "only-theirs", "x");
    git(work, &["add", "only-theirs"]);
    quiet_git(&checkout, &["commit", "--quiet", "--all", "--message=theirs"]);
    quiet_git(&checkout, &["checkout", "--quiet", "work"]);
    assert!(!try_git(work, &[&NO_HOOKS[..], &["merge", "--quiet", "other"]].concat()).status.success());
    let index = fs::read(checkout.git_dir.join("index")).unwrap();
    let snapshot = taken(&checkout);
    assert!(content(&repo, &snapshot.tree, "README.md").contains("<<<<<<<"));
    assert_eq!(content(&repo, &snapshot.tree, "only-theirs"), "x");
    assert_eq!(fs::read(checkout.git_dir.join("index")).unwrap(), index);
    assert!(!taken(&checkout).fresh);
}

#[test]
fn before_a_first_commit() {
    let (_sandbox, repo, checkout) = start();
    quiet_git(&checkout, &["checkout", "--quiet", "--orphan", "unborn"]);
    write(&checkout.work_tree, "new", "x");
    git(&checkout.work_tree, &["add", "new"]);
    let snapshot = taken(&checkout);
    assert_eq!(snapshot.head, None);
    assert_eq!(names(&repo, &snapshot.tree), [".gitignore", "README.md", "new", "src/main.rs"]);
    assert_eq!(text(&repo, &["show", "-s", "--format=%P", snapshot.commit.as_str()]), "");
    assert!(!taken(&checkout).fresh);
}

#[test]
fn with_a_damaged_or_missing_index() {
    let (_sandbox, repo, checkout) = start();
    let work = &checkout.work_tree;
    // Tracked although it is ignored: an empty index would not know it.
    write(work, "kept.log", "x");
    git(work, &["add", "--force", "kept.log"]);
    quiet_git(&checkout, &["commit", "--quiet", "--message=log"]);
    write(work, "new", "x");
    let index = checkout.git_dir.join("index");
    let expected = [".gitignore", "README.md", "kept.log", "new", "src/main.rs"];
    for damage in ["", "DIRC", "nothing like an index", "remove"] {
        match damage {
            "remove" => fs::remove_file(&index).unwrap(),
            damage => fs::write(&index, damage).unwrap(),
        }
        assert_eq!(names(&repo, &taken(&checkout).tree), expected, "{damage:?}");
    }
}

#[test]
fn with_files_hidden_from_git() {
    let (_sandbox, repo, checkout) = start();
    let work = &checkout.work_tree;
    git(work, &["update-index", "--skip-worktree", "README.md"]);
    git(work, &["update-index", "--assume-unchanged", "src/main.rs"]);
    write(work, "README.md", "hidden\n");
    write(work, "src/main.rs", "hidden too\n");
    let index = fs::read(checkout.git_dir.join("index")).unwrap();
    let snapshot = taken(&checkout);
    assert_eq!(content(&repo, &snapshot.tree, "README.md"), "hidden\n");
    assert_eq!(content(&repo, &snapshot.tree, "src/main.rs"), "hidden too\n");
    assert_eq!(fs::read(checkout.git_dir.join("index")).unwrap(), index);
}

#[test]
fn with_a_sparse_checkout_what_is_not_there_is_not_removed() {
    let (_sandbox, repo, checkout) = start();
    quiet_git(&checkout, &["sparse-checkout", "set", "--no-cone", "/README.md"]);
    assert!(!checkout.work_tree.join("src").exists());
    write(&checkout.work_tree, "README.md", "sparse\n");
    let snapshot = taken(&checkout);
    assert_eq!(names(&repo, &snapshot.tree), [".gitignore", "README.md", "src/main.rs"]);
    assert_eq!(content(&repo, &snapshot.tree, "README.md"), "sparse\n");
}

#[test]
fn with_files_folders_and_links_in_each_others_place() {
    let (sandbox, repo, checkout) = start();
    let work = &checkout.work_tree;
    for path in ["folder/a", "folder/b", "linked/a", "file", "piped"] {
        write(work, path, path);
    }
    git(work, &["add", "--all"]);
    quiet_git(&checkout, &["commit", "--quiet", "--message=x"]);
    fs::remove_dir_all(work.join("folder")).unwrap();
    write(work, "folder", "a file now");
    fs::remove_file(work.join("file")).unwrap();
    write(work, "file/inside", "a folder now");
    let elsewhere = sandbox.folder("elsewhere");
    write(&elsewhere, "a", "not ours");
    fs::remove_dir_all(work.join("linked")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, work.join("linked")).unwrap();
    fs::remove_file(work.join("piped")).unwrap();
    for pipe in ["piped", "untracked pipe"] {
        assert!(Command::new("mkfifo").arg(work.join(pipe)).status().unwrap().success());
    }
    let snapshot = taken(&checkout);
    assert_eq!(
        names(&repo, &snapshot.tree),
        [".gitignore", "README.md", "file/inside", "folder", "linked", "src/main.rs"]
    );
    assert_eq!(content(&repo, &snapshot.tree, "linked"), elsewhere.to_str().unwrap());
    assert_eq!(snapshot.skips.named[0].path, b"piped");
    assert_eq!(snapshot.skips.named[0].why, SkippedWhy::Special);
}

#[test]
fn with_files_that_cannot_be_read() {
    let (_sandbox, repo, checkout) = start();
    let work = &checkout.work_tree;
    write(work, "closed", "x");
    write(work, "open", "y");
    fs::set_permissions(work.join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    let snapshot = taken(&checkout);
    let found = names(&repo, &snapshot.tree);
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
    let (_sandbox, repo, checkout) = start();
    let work = &checkout.work_tree;
    git(&repo, &["config", "filter.broken.clean", "false"]);
    git(&repo, &["config", "filter.broken.required", "true"]);
    write(work, ".gitattributes", "*.bin filter=broken\n");
    for number in 0..20 {
        write(work, &format!("plain{number}"), "x");
    }
    write(work, "data.bin", "raw bytes");
    let snapshot = taken(&checkout);
    assert_eq!(snapshot.skips.total, 0);
    assert_eq!(content(&repo, &snapshot.tree, "data.bin"), "raw bytes");
    assert_eq!(names(&repo, &snapshot.tree).len(), 3 + 1 + 20 + 1);
}

#[test]
fn while_files_come_and_go() {
    let (_sandbox, repo, checkout) = start();
    let work = &checkout.work_tree;
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
            let snapshot = taken(&checkout);
            assert!(names(&repo, &snapshot.tree).contains(&"README.md".to_owned()));
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_change_within_the_same_tick_of_the_clock() {
    let (_sandbox, repo, checkout) = start();
    for number in 10..25 {
        let text = format!("{number}");
        write(&checkout.work_tree, "racy", "xx");
        git(&checkout.work_tree, &["add", "racy"]);
        write(&checkout.work_tree, "racy", &text);
        assert_eq!(content(&repo, &taken(&checkout).tree, "racy"), text);
    }
}

#[test]
fn after_the_agent_removed_its_git_file() {
    let (_sandbox, repo, checkout) = start();
    write_odd_files(&checkout.work_tree);
    fs::remove_file(checkout.work_tree.join(".git")).unwrap();
    let before = everything(&checkout.work_tree);
    let snapshot = taken(&checkout);
    assert_eq!(names(&repo, &snapshot.tree).len(), before.len());
    assert_eq!(snapshot.head, Some(oid(&repo, "work")));
}
