//! What the tests of workspaces and snapshots share.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::sandbox::{Sandbox, try_git};
use fleet_host::git::{
    Area, Checkout, Collected, CommitAndSnapshot, CommitLeftovers, KeepFiles, Leftovers, Oid, OpenRequest,
    Published, Snapshot, StartAt, TakeSnapshot, Workspace, commit_and_snapshot, take_snapshot,
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

/// The workspaces of a repository in the sandbox.
pub(crate) fn area(sandbox: &Sandbox, repo: &Path) -> Area {
    area_of(&repo.join(".git"), &sandbox.path("home").join(repo.file_name().unwrap()))
}

/// The workspaces of the repository with this git directory, all in the folder `home`.
pub(crate) fn area_of(repo: &Path, home: &Path) -> Area {
    Area {
        repo: repo.to_owned(),
        vault: home.join("vault"),
        dir: home.join("worktrees"),
        trash: home.join("trash"),
        pool: 4,
        keep: KeepFiles::Nothing,
    }
}

/// A request for a new branch at `main`.
pub(crate) fn fresh(area: &Area, owner: &str, branch: &str) -> OpenRequest {
    OpenRequest::new(owner, branch, StartAt::New(oid(&area.repo, "main")))
}

/// A request for the branch of an earlier run.
pub(crate) fn continued(owner: &str, branch: &str) -> OpenRequest {
    OpenRequest::new(owner, branch, StartAt::Continue)
}

#[track_caller]
pub(crate) fn opened(area: &Area, owner: &str, branch: &str) -> Workspace {
    area.open(&fresh(area, owner, branch)).unwrap()
}

/// A run on the branch `work` whose agent is played by the test.
pub(crate) struct Run {
    pub(crate) sandbox: Sandbox,
    /// The user's checkout.
    pub(crate) repo: PathBuf,
    pub(crate) workspace: Workspace,
}

/// How a run ended.
pub(crate) struct Ended {
    pub(crate) collected: Collected,
    pub(crate) leftovers: Leftovers,
    pub(crate) snapshot: Option<Snapshot>,
}

impl Run {
    pub(crate) fn new() -> Self {
        let sandbox = Sandbox::new();
        let repo = project(&sandbox, "main");
        Self::of(sandbox, repo)
    }

    /// In a project that was prepared by somebody.
    pub(crate) fn of_project(prepare: impl FnOnce(&Path)) -> Self {
        let sandbox = Sandbox::new();
        let repo = project(&sandbox, "main");
        prepare(&repo);
        Self::of(sandbox, repo)
    }

    pub(crate) fn of(sandbox: Sandbox, repo: PathBuf) -> Self {
        let workspace = opened(&area(&sandbox, &repo), "r1", "work");
        Self { sandbox, repo, workspace }
    }

    pub(crate) fn path(&self) -> &Path {
        self.workspace.path()
    }

    /// The agent's own git directory.
    pub(crate) fn dot_git(&self) -> PathBuf {
        self.path().join(".git")
    }

    pub(crate) fn area(&self) -> &Area {
        self.workspace.area()
    }

    /// Our git directory.
    pub(crate) fn vault(&self) -> &Path {
        &self.area().vault
    }

    #[track_caller]
    pub(crate) fn checkout(&self) -> Checkout {
        self.workspace.checkout().unwrap()
    }

    /// Commits all files, as the agent.
    #[track_caller]
    pub(crate) fn commit(&self, message: &str) -> Oid {
        commit_all(self.path(), message)
    }

    #[track_caller]
    pub(crate) fn collected(&self) -> Collected {
        self.workspace.collect().unwrap()
    }

    /// A snapshot, after what the agent did was collected.
    #[track_caller]
    pub(crate) fn taken(&self) -> Snapshot {
        self.taken_with(|take| take)
    }

    #[track_caller]
    pub(crate) fn taken_with(&self, change: impl FnOnce(TakeSnapshot<'_>) -> TakeSnapshot<'_>) -> Snapshot {
        let (collected, checkout) = (self.collected(), self.checkout());
        take_snapshot(&change(TakeSnapshot { staged: collected.staged.as_ref(), ..request(&checkout) }))
            .unwrap()
    }

    /// What a keeper does at the end, but for publishing.
    #[track_caller]
    pub(crate) fn ended(&self) -> Ended {
        self.ended_without(&[])
    }

    #[track_caller]
    pub(crate) fn ended_without(&self, exclude: &[String]) -> Ended {
        let (collected, checkout) = (self.collected(), self.checkout());
        let commit = CommitLeftovers { checkout: &checkout, message: "leftovers\n\nof r1", exclude };
        let snapshot = TakeSnapshot { staged: collected.staged.as_ref(), exclude, ..request(&checkout) };
        let base = oid(&self.repo, "main");
        let wanted = CommitAndSnapshot { commit, snapshot, base: &base };
        let (leftovers, snapshot) = commit_and_snapshot(&wanted).unwrap();
        Ended { collected, leftovers, snapshot }
    }

    /// The end of a run: everything is committed, and the branch is in the user's repository.
    #[track_caller]
    pub(crate) fn published(&self) -> Oid {
        let head = self.ended().leftovers.head.unwrap();
        assert_eq!(
            self.workspace.publish(&head, fleet_host::git::Compression::Quick).unwrap(),
            Published::Done
        );
        assert_eq!(oid(&self.repo, "refs/heads/work"), head);
        head
    }
}

/// Commits all files in a folder.
#[track_caller]
pub(crate) fn commit_all(folder: &Path, message: &str) -> Oid {
    text(folder, &["add", "--all"]);
    text(folder, &["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--message", message]);
    oid(folder, "HEAD")
}

/// Whether git, as the agent runs it, sees nothing that is not committed.
#[track_caller]
pub(crate) fn is_clean(folder: &Path) -> bool {
    text(folder, &["status", "--porcelain", "--untracked-files=normal"]).is_empty()
}

/// Commits what is left in a checkout, with a snapshot.
#[track_caller]
pub(crate) fn commit_left(checkout: &Checkout) -> Leftovers {
    let base = fleet_host::git::head_commit(&checkout.git_dir).unwrap();
    let commit = CommitLeftovers { checkout, message: "x", exclude: &[] };
    commit_and_snapshot(&CommitAndSnapshot { commit, snapshot: request(checkout), base: &base }).unwrap().0
}

/// A request for a snapshot.
pub(crate) fn request(checkout: &Checkout) -> TakeSnapshot<'_> {
    let at_seconds = 1_700_000_000;
    TakeSnapshot { checkout, run: "r1", why: "test", at_seconds, exclude: &[], max_file: None, staged: None }
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
