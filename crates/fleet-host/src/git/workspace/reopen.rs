//! Opening a worktree that is just as it was left, as most are when short tasks follow each other: without a git.
//!
//! Owns the quick way into a warm worktree. Nothing is changed before it is certain that the way can be gone; where it
//! cannot, the usual one is.

use super::clean;
use super::print::{Print, Proof};
use super::slot::{Held, Phase};
use super::untouched::Stamp;
use super::{Area, Keep, Open, StartAt, Workspace, WorkspaceError};
use crate::git::checkout::Checkout;
use crate::git::files::{self, Tip};
use crate::git::loose;
use crate::git::oid::Oid;
use crate::git::refs;

impl Area {
    /// Opens a workspace in a worktree that is at its commit and known to be clean. Gives the slot back where that is
    /// not so, or where a git is needed for it.
    ///
    /// The note says from the beginning that the workspace is the run's: it is proven clean before, so that whoever
    /// takes over from a killed process finds nothing in it.
    pub(super) fn reopen(
        &self,
        held: Held,
        open: &Open,
        start: &StartAt,
    ) -> Result<Result<Workspace, Held>, WorkspaceError> {
        let StartAt::New(at) = start else { return Ok(Err(held)) };
        let Some((checkout, proof)) = self.as_left(&held, at) else { return Ok(Err(held)) };
        let mut claim = super::open::claim_of(open);
        claim.phase = Phase::Open;
        claim.git_dir = Some(checkout.git_dir.clone());
        held.write_claim(&claim)?;
        if begin(&checkout, &open.branch, at).is_none() {
            held.remove_claim()?;
            return Ok(Err(held));
        }
        let (index, print) = (Some(proof.index), Some(proof.print));
        Ok(Ok(Workspace { area: self.clone(), held, claim, checkout, recycled: true, index, print }))
    }

    /// The checkout of a slot that nobody has touched since it was proven clean at this commit.
    fn as_left(&self, held: &Held, at: &Oid) -> Option<(Checkout, Proof)> {
        let proof = Proof::of(held).filter(|_| self.keep == Keep::Nothing)?;
        let checkout = clean::connected(self, held.path())?;
        let is_plain = !checkout.work_tree.join(".gitmodules").exists();
        let is_there = files::head_commit(&checkout.git_dir) == Some(Tip::At(at.clone()));
        if !is_plain || !is_there || !proof.is_of(at, Stamp::of_index(&checkout)) {
            return None;
        }
        clean::purge(&checkout).ok()?;
        (Print::again(&checkout.work_tree) == Some(proof.print)).then_some((checkout, proof))
    }
}

/// Makes the branch and leads `HEAD` there.
fn begin(checkout: &Checkout, branch: &str, at: &Oid) -> Option<()> {
    let name = refs::full_name(branch).ok()?;
    loose::create(&checkout.common_dir, &name, at)?;
    if clean::lead_head(checkout, &format!("ref: {name}")).is_err() {
        let _ = refs::delete_branch(&checkout.common_dir, branch, at);
        return None;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use fleet_testkit::repo::Repo;

    use super::*;
    use crate::git::head_commit;

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
            let (dir_of_trees, trash) = (folder.join("trees"), folder.join("trash"));
            let area = Area { repo: repo_dir, dir: dir_of_trees, trash, pool: 4, keep: Keep::Nothing };
            Self { repo, _dir: dir, area, base }
        }

        fn open(&self, branch: &str) -> Workspace {
            let start = StartAt::New(self.base.clone());
            let open = Open { owner: branch.to_owned(), branch: branch.to_owned(), start };
            self.area.open(&open).unwrap()
        }

        /// Says of the free worktree what would be said of it if its files were older.
        fn vouch(&self) {
            let place = &self.area.places().unwrap()[0];
            let held = place.try_hold().unwrap().unwrap();
            let checkout = clean::connected(&self.area, held.path()).unwrap();
            let index = Stamp::of_index(&checkout).unwrap();
            let print = Print::again(&checkout.work_tree).unwrap();
            Proof { commit: self.base.to_string(), index, print }.leave(&held);
        }

        /// Git writes a log for every branch that it makes.
        fn is_made_by_git(&self, branch: &str) -> bool {
            self.area.repo.join("logs/refs/heads").join(branch).exists()
        }
    }

    #[test]
    fn a_worktree_that_is_as_it_was_left_needs_no_git() {
        let stage = Stage::new();
        stage.open("first").release().unwrap();
        stage.vouch();
        for branch in ["second", "a/third"] {
            let workspace = stage.open(branch);
            assert!(workspace.recycled() && !stage.is_made_by_git(branch), "{branch}");
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
            workspace.release_untouched(&seen).unwrap();
            assert!(refs::delete_branch(&stage.area.repo, branch, &stage.base).unwrap());
        }
        stage.repo.git(&["fsck", "--strict"]);
    }

    #[test]
    fn whatever_was_done_to_it_is_found() {
        let changes: [(&str, Change); 4] = [
            ("changed", |tree| fs::write(tree.join("file.txt"), "changed\n").unwrap()),
            ("new", |tree| fs::write(tree.join("new.txt"), "").unwrap()),
            ("ignored", |tree| fs::write(tree.join("a.log"), "").unwrap()),
            ("removed", |tree| fs::remove_file(tree.join("file.txt")).unwrap()),
        ];
        for (what, change) in changes {
            let stage = Stage::new();
            stage.open("first").release().unwrap();
            stage.vouch();
            change(&stage.area.places().unwrap()[0].path);
            let workspace = stage.open("second");
            assert!(stage.is_made_by_git("second"), "{what}: git was not asked");
            assert_eq!(fs::read_to_string(workspace.path().join("file.txt")).unwrap(), "one\n", "{what}");
            let seen = workspace.untouched(&stage.base);
            assert!(seen.is_some_and(|seen| seen.proof.is_none()), "{what}");

            let stage = Stage::new();
            stage.open("first").release().unwrap();
            stage.vouch();
            let workspace = stage.open("second");
            change(workspace.path());
            let seen = workspace.untouched(&stage.base);
            assert_eq!(
                seen.map(|seen| seen.proof.is_none()),
                (what == "ignored").then_some(true),
                "{what} by a run"
            );
        }
    }
}
