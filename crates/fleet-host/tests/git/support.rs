//! What the tests of workspaces and snapshots share.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::sandbox::{Sandbox, try_git};
use fleet_host::git::{
    Area, Checkout, Keep, Oid, Open, Snapshot, StartAt, TakeSnapshot, Workspace, take_snapshot,
};

/// What git answers, without the end of the line.
#[track_caller]
pub(crate) fn text(folder: &Path, arguments: &[&str]) -> String {
    let output = try_git(folder, arguments);
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned()
}

#[track_caller]
pub(crate) fn oid(folder: &Path, rev: &str) -> Oid {
    Oid::parse(&text(folder, &["rev-parse", rev])).unwrap()
}

/// Writes a file, with the folders above it.
pub(crate) fn write(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    let place = root.join(path);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(place, content).unwrap();
}

/// A repository with a few files, and hooks that leave a mark when one of them runs.
pub(crate) fn project(sandbox: &Sandbox, name: &str) -> PathBuf {
    let repo = sandbox.repository(name);
    write(&repo, "README.md", "# project\n");
    write(&repo, "src/main.rs", "fn main() {}\n");
    write(&repo, ".gitignore", "target/\n*.log\n.env\n");
    text(&repo, &["add", "--all"]);
    text(&repo, &["commit", "--quiet", "--message=files"]);
    for hook in ["post-checkout", "pre-commit", "post-commit", "reference-transaction", "post-index-change"] {
        let place = repo.join(".git/hooks").join(hook);
        write(
            &repo,
            &format!(".git/hooks/{hook}"),
            "#!/bin/sh\ntouch \"$(git rev-parse --git-common-dir)/hook-ran\"\n",
        );
        fs::set_permissions(place, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let _ = fs::remove_file(repo.join(".git/hook-ran"));
    repo
}

pub(crate) fn hook_ran(repo: &Path) -> bool {
    repo.join(".git/hook-ran").exists()
}

/// The worktrees of a repository in the sandbox.
pub(crate) fn area(sandbox: &Sandbox, repo: &Path) -> Area {
    let name = repo.file_name().unwrap();
    Area {
        repo: repo.join(".git"),
        dir: sandbox.path("home/worktrees").join(name),
        trash: sandbox.path("home/worktrees/.trash"),
        pool: 4,
        keep: Keep::Nothing,
    }
}

/// A request for a new branch at `main`.
pub(crate) fn fresh(area: &Area, owner: &str, branch: &str) -> Open {
    let start = StartAt::New(oid(&area.repo, "main"));
    Open { owner: owner.to_owned(), branch: branch.to_owned(), start }
}

#[track_caller]
pub(crate) fn opened(area: &Area, owner: &str, branch: &str) -> Workspace {
    area.open(&fresh(area, owner, branch)).unwrap()
}

/// A linked worktree on a branch `work`, as an agent would have it.
pub(crate) fn worktree(sandbox: &Sandbox, repo: &Path) -> Checkout {
    let path = sandbox.path("work tree");
    text(
        repo,
        &[
            "-c",
            "core.hooksPath=/dev/null",
            "worktree",
            "add",
            "--quiet",
            "-b",
            "work",
            path.to_str().unwrap(),
        ],
    );
    Checkout::at(&path).unwrap()
}

pub(crate) fn request(checkout: &Checkout) -> TakeSnapshot<'_> {
    TakeSnapshot { checkout, run: "r1", why: "test", at_seconds: 1_700_000_000, exclude: &[], max_file: None }
}

#[track_caller]
pub(crate) fn taken(checkout: &Checkout) -> Snapshot {
    take_snapshot(&request(checkout)).unwrap()
}

/// The paths in a tree, as git shows them.
#[track_caller]
pub(crate) fn names(folder: &Path, tree: &Oid) -> Vec<String> {
    let list = text(folder, &["ls-tree", "-r", "-z", "--name-only", tree.as_str()]);
    list.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The content of a file in a tree.
#[track_caller]
pub(crate) fn content(folder: &Path, tree: &Oid, path: &str) -> String {
    let output = try_git(folder, &["cat-file", "blob", &format!("{tree}:{path}")]);
    assert!(output.status.success(), "{path} is in the tree");
    String::from_utf8(output.stdout).unwrap()
}

/// Everything in a folder but `.git`: content of files, targets of links, and whether a file is a program.
pub(crate) fn everything(root: &Path) -> BTreeMap<Vec<u8>, (char, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let name = path.strip_prefix(root).unwrap().as_os_str().as_bytes().to_vec();
            if name == b".git" {
            } else if metadata.is_dir() {
                open.push(path);
            } else if metadata.is_symlink() {
                all.insert(name, ('l', fs::read_link(path).unwrap().as_os_str().as_bytes().to_vec()));
            } else {
                let kind = if metadata.permissions().mode() & 0o100 == 0 { 'f' } else { 'x' };
                all.insert(name, (kind, fs::read(path).unwrap()));
            }
        }
    }
    all
}

/// The files of an agent's making whose names or kinds are hard to handle.
pub(crate) fn write_odd_files(root: &Path) {
    use std::ffi::OsStr;
    for name in [
        "-rf",
        "new\nline",
        "quo\"te'",
        "tab\there",
        "späße/日本語.txt",
        " lead",
        "*",
        "claude",
        ":(top)x",
        "back\\slash",
    ] {
        write(root, name, format!("content of {name}"));
    }
    fs::write(root.join(OsStr::from_bytes(b"not-\xff-text")), b"\x00\xff\r\n\x00").unwrap();
    write(root, "tool.sh", "#!/bin/sh\n");
    fs::set_permissions(root.join("tool.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("nowhere/at all", root.join("dangling")).unwrap();
    std::os::unix::fs::symlink("src", root.join("to-folder")).unwrap();
}
