//! Opening a workspace that is just as it was left, as most are when short tasks follow each other: without a git.
//!
//! Owns the quick way into a warm workspace. Nothing is changed before it is certain that the way can be gone; where it
//! cannot, the usual one is.

use super::clean;
use super::fingerprint::{Fingerprint, Proof};
use super::open::{OpenStart, ReadyWorkspace};
use super::slot::HeldSlot;
use super::{Area, KeepFiles, Workspace, WorkspaceError};
use crate::git::checkout::Checkout;
use crate::git::files::{self, Tip};
use crate::git::stamp::Stamp;

impl Area {
    /// Opens a workspace that is at its commit and known to be clean. Otherwise gives the slot back.
    ///
    /// The note says from the beginning that the workspace is the run's: it is proven clean before, so that a take-over
    /// from a killed process finds nothing in it.
    pub(super) fn reopen(
        &self,
        held: HeldSlot,
        start: &OpenStart,
    ) -> Result<Result<Workspace, HeldSlot>, WorkspaceError> {
        let Some((checkout, proof)) = self.as_left(&held, start) else { return Ok(Err(held)) };
        let ready = ReadyWorkspace { checkout, is_recycled: true, print: Some(proof.print) };
        self.finish(held, start, ready).map(Ok)
    }

    /// The checkout of a slot that is untouched since it was proven clean at this commit.
    fn as_left(&self, held: &HeldSlot, start: &OpenStart) -> Option<(Checkout, Proof)> {
        let proof = Proof::of(held).filter(|_| self.keep == KeepFiles::Nothing)?;
        let checkout = clean::connected(&start.vault, held.path())?;
        let is_plain = !checkout.work_tree.join(".gitmodules").exists();
        let is_there = files::head_commit(&checkout.git_dir) == Some(Tip::At(start.at.clone()));
        let index = Stamp::of(&checkout.git_dir.join("index"));
        if !is_plain || !is_there || !proof.is_of(&start.at, index) {
            return None;
        }
        clean::purge(&checkout).ok()?;
        (Fingerprint::again(&checkout.work_tree) == Some(proof.print)).then_some((checkout, proof))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use std::time::Duration;

    use fleet_testkit::repo::Repo;

    use super::*;
    use crate::git::head_commit;
    use crate::git::oid::Oid;
    use crate::git::workspace::{OpenRequest, Pace, StartAt, empty_trash};

    type Change = fn(&Path);

    struct Stage {
        repo: Repo,
        _dir: tempfile::TempDir,
        area: Area,
        base: Oid,
    }

    impl Stage {
        fn new() -> Self {
            let (repo, dir) = (Repo::init(), tempfile::tempdir().unwrap());
            fs::write(repo.path().join("file.txt"), "one\n").unwrap();
            fs::write(repo.path().join(".gitignore"), "*.log\n").unwrap();
            repo.git(&["add", "-A"]);
            repo.git(&["commit", "-q", "-m", "files"]);
            let repo_dir = repo.path().canonicalize().unwrap().join(".git");
            let base = head_commit(&repo_dir).unwrap();
            let folder = dir.path().canonicalize().unwrap();
            let [vault, trees, trash] = ["vault", "trees", "trash"].map(|name| folder.join(name));
            let area = Area { repo: repo_dir, vault, dir: trees, trash, pool: 4, keep: KeepFiles::Nothing };
            Self { repo, _dir: dir, area, base }
        }

        /// A stage with a free workspace of which is said what would be said of it if its files were older.
        fn warm() -> Self {
            let stage = Self::new();
            stage.open("first").release().unwrap();
            stage.vouch();
            stage
        }

        fn wanted(&self, branch: &str) -> OpenRequest {
            OpenRequest::new(branch, branch, StartAt::New(self.base.clone()))
        }

        fn open(&self, branch: &str) -> Workspace {
            self.area.open(&self.wanted(branch)).unwrap()
        }

        fn held(&self) -> HeldSlot {
            self.area.places().unwrap()[0].try_hold().unwrap().unwrap()
        }

        fn vouch(&self) {
            let held = self.held();
            let checkout = clean::connected(&self.area.known_vault(), held.path()).unwrap();
            let index = Stamp::of(&checkout.git_dir.join("index")).unwrap();
            let print = Fingerprint::again(&checkout.work_tree).unwrap();
            Proof { commit: self.base.to_string(), index, print }.leave(&held);
        }

        /// Whether the free workspace can be opened without git.
        fn is_as_left(&self) -> bool {
            let start = self.area.start(&self.wanted("asked")).unwrap();
            self.area.as_left(&self.held(), &start).is_some()
        }
    }

    #[test]
    fn a_workspace_that_is_as_it_was_left_needs_no_git() {
        let stage = Stage::warm();
        for branch in ["second", "a/third"] {
            assert!(stage.is_as_left(), "{branch}");
            let workspace = stage.open(branch);
            assert!(workspace.recycled() && workspace.is_quick_to_check(), "{branch}");
            let status = stage.repo.git(&[
                "--no-optional-locks",
                "-C",
                workspace.path().to_str().unwrap(),
                "status",
                "--porcelain=v2",
                "--branch",
            ]);
            assert!(status.contains(&format!("# branch.head {branch}")), "{status}");
            assert_eq!(status.lines().filter(|line| !line.starts_with('#')).count(), 0, "{status}");
            let seen = workspace.untouched(&stage.base).unwrap();
            assert!(seen.proof.is_some(), "{branch}");
            workspace.release_untouched(&seen).unwrap();
        }
        stage.repo.git(&["fsck", "--strict"]);
    }

    const CHANGES: [(&str, Change); 4] = [
        ("changed", |tree| fs::write(tree.join("file.txt"), "changed\n").unwrap()),
        ("new", |tree| fs::write(tree.join("new.txt"), "").unwrap()),
        ("ignored", |tree| fs::write(tree.join("a.log"), "").unwrap()),
        ("removed", |tree| fs::remove_file(tree.join("file.txt")).unwrap()),
    ];

    #[test]
    fn whatever_was_done_to_a_free_workspace_is_found() {
        for (what, change) in CHANGES {
            let stage = Stage::warm();
            change(&stage.area.places().unwrap()[0].path);
            assert!(!stage.is_as_left(), "{what}");
            let workspace = stage.open("second");
            assert!(!workspace.is_quick_to_check(), "{what}: git was not asked");
            assert_eq!(fs::read_to_string(workspace.path().join("file.txt")).unwrap(), "one\n", "{what}");
            assert!(!workspace.path().join("new.txt").exists() && !workspace.path().join("a.log").exists());
            let seen = workspace.untouched(&stage.base);
            assert!(seen.is_some_and(|seen| seen.proof.is_none()), "{what}");
        }
    }

    #[test]
    fn whatever_a_run_does_is_found() {
        for (what, change) in CHANGES {
            let stage = Stage::warm();
            let workspace = stage.open("second");
            change(workspace.path());
            let seen = workspace.untouched(&stage.base);
            let is_proven_by_git = seen.map(|seen| seen.proof.is_none());
            assert_eq!(is_proven_by_git, (what == "ignored").then_some(true), "{what}");
        }
    }

    /// What the earlier agent did to its repository never reaches the next one.
    #[test]
    fn a_repository_that_was_touched_is_made_anew() {
        let changes: [(&str, Change); 15] = [
            ("config", |git| fs::write(git.join("config"), "[core]\n\tfsmonitor = evil\n").unwrap()),
            ("worktree config", |git| fs::write(git.join("config.worktree"), "[core]\n").unwrap()),
            ("hook", |git| {
                fs::create_dir(git.join("hooks")).unwrap();
                fs::write(git.join("hooks/post-checkout"), "#!/bin/sh\n").unwrap();
            }),
            ("empty folder", |git| fs::create_dir(git.join("modules")).unwrap()),
            ("alternates", |git| fs::write(git.join("objects/info/alternates"), "/elsewhere\n").unwrap()),
            ("object", |git| fs::write(git.join("objects/pack/pack-1.keep"), "").unwrap()),
            ("ref", |git| {
                fs::create_dir_all(git.join("refs/tags")).unwrap();
                fs::copy(git.join("refs/heads/second"), git.join("refs/tags/mine")).unwrap();
            }),
            ("hard link", |git| fs::hard_link(git.join("config"), git.join("../../same")).unwrap()),
            ("hard link to HEAD", |git| fs::hard_link(git.join("HEAD"), git.join("../../head")).unwrap()),
            ("hard link to the index", |git| {
                fs::hard_link(git.join("index"), git.join("../../index")).unwrap();
            }),
            ("link", |git| {
                fs::rename(git.join("packed-refs"), git.join("../../packed")).unwrap();
                std::os::unix::fs::symlink("../../packed", git.join("packed-refs")).unwrap();
            }),
            ("file in place of the branches", |git| {
                fs::remove_dir_all(git.join("refs/heads")).unwrap();
                fs::write(git.join("refs/heads"), "").unwrap();
            }),
            ("deep folders", |git| {
                fs::create_dir_all(git.join("refs/heads").join("d/".repeat(1_500))).unwrap();
            }),
            ("closed for objects", |git| {
                fs::set_permissions(git.join("objects/pack"), fs::Permissions::from_mode(0o555)).unwrap();
            }),
            ("closed", |git| {
                for closed in ["refs/heads", "refs", ""] {
                    fs::set_permissions(git.join(closed), fs::Permissions::from_mode(0o555)).unwrap();
                }
            }),
        ];
        for (what, change) in changes {
            let stage = Stage::warm();
            let workspace = stage.open("second");
            let dir = workspace.path().join(".git");
            let before = files(&dir);
            change(&dir);
            workspace.release().unwrap();
            stage.vouch();
            let workspace = stage.open("second");
            assert!(workspace.recycled(), "{what}: the files were not touched");
            assert_eq!(files(&dir), before, "{what}");
            let pace = Pace { at_most: u64::MAX, pause_every: 0, pause: Duration::ZERO };
            assert!(empty_trash(&stage.area.trash, pace).unwrap().empty, "{what}");
        }
    }

    /// Whatever is wrong with it, it is not tried again by every run.
    #[test]
    fn a_workspace_without_a_repository_does_not_stay_in_the_pool() {
        let stage = Stage::warm();
        let place = stage.area.places().unwrap()[0].clone();
        let checkout = clean::connected(&stage.area.known_vault(), &place.path).unwrap();
        // Nothing can be written in its place.
        fs::remove_file(checkout.git_dir.join("given.json")).unwrap();
        fs::create_dir(checkout.git_dir.join("given.json")).unwrap();
        assert!(stage.area.open(&stage.wanted("second")).is_err());
        assert!(!place.path.exists() && !place.beside("json").exists());
        assert!(!stage.open("third").recycled());
    }

    /// The content of a file and the number of its names, `None` for a folder; and the rights.
    type Content = (Option<(Vec<u8>, u64)>, u32);

    /// Every file and every folder.
    fn files(dir: &Path) -> Vec<(String, Content)> {
        use std::os::unix::fs::MetadataExt as _;
        let (mut all, mut open) = (Vec::new(), vec![dir.to_owned()]);
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let found = fs::symlink_metadata(&path).unwrap();
                let content = found.is_file().then(|| (fs::read(&path).unwrap(), found.nlink()));
                all.push((path.strip_prefix(dir).unwrap().display().to_string(), (content, found.mode())));
                if found.is_dir() {
                    open.push(path);
                }
            }
        }
        all.sort();
        all
    }
}
