//! Workspaces in which nothing was done, as with most tasks that only look.
//!
//! Owns how that is proven, and how such a worktree goes back without being scrubbed: one git process instead of six,
//! and none at all where the looks of the files tell.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::print::{Print, Proof};
use super::slot::Held;
use super::{Workspace, WorkspaceError, clean};
use crate::git::checkout::Checkout;
use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::files;
use crate::git::oid::Oid;
use crate::git::refs;

/// Proof that a workspace has the files of its commit, and nothing else that is not ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untouched {
    commit: Oid,
    has_ignored: bool,
    /// What it looks like, if that is how it was proven.
    pub(super) proof: Option<Proof>,
}

/// Which index it was. Git never changes one in its place: a new one has another number or other times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    inode: u64,
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// That of the index of a checkout; `None` if there is none.
    pub(super) fn of_index(checkout: &Checkout) -> Option<Self> {
        let found = fs::symlink_metadata(checkout.git_dir.join("index")).ok()?;
        Some(Self {
            inode: found.ino(),
            length: found.len(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }
}

impl Workspace {
    /// Whether nothing was done here since `base`: no commit, no change, no new file. `None` if something was, or if
    /// it cannot be told. Nothing may be at work in it.
    pub fn untouched(&self, base: &Oid) -> Option<Untouched> {
        let checkout = self.checkout().ok()?;
        let is_at_base = |at: Result<Option<Oid>, GitError>| at.is_ok_and(|at| at.as_ref() == Some(base));
        if !is_at_base(refs::head(&checkout.git_dir))
            || !is_at_base(refs::branch_commit(&checkout.common_dir, self.branch()))
        {
            return None;
        }
        // The index that we made hides nothing from git; of any other it has to be asked.
        let is_known = self.index.is_some() && self.index == Stamp::of_index(&checkout);
        if is_known && let Some(proof) = self.proof(base) {
            return Some(Untouched { commit: base.clone(), has_ignored: false, proof: Some(proof) });
        }
        if !is_known && clean::has_flags(&checkout).unwrap_or(true) {
            return None;
        }
        let (mut is_changed, mut has_ignored) = (false, false);
        Git::within(&checkout)
            .args(["status", "--porcelain=v2", "-z", "--untracked-files=normal", "--ignore-submodules=none"])
            .arg("--ignored=traditional")
            .records(&mut |record| {
                match record.first() {
                    Some(b'!') => has_ignored = true,
                    _ => is_changed = true,
                }
                Ok(())
            })
            .ok()?;
        (!is_changed).then(|| Untouched { commit: base.clone(), has_ignored, proof: None })
    }

    /// Whether [`untouched`](Self::untouched) is a matter of milliseconds.
    pub fn is_soon_told(&self) -> bool {
        self.print.is_some()
    }

    /// That all files are as they were when the workspace was opened.
    fn proof(&self, base: &Oid) -> Option<Proof> {
        let (index, print) = (self.index?, self.print?);
        let commit = base.as_str().to_owned();
        (Print::again(&self.checkout.work_tree)? == print).then_some(Proof { commit, index, print })
    }

    /// Gives the worktree back to the pool, as [`release`](Self::release) does, knowing that nothing was done in it.
    ///
    /// The note is left as it is: whoever takes over from a killed process finds nothing in the workspace either.
    pub fn release_untouched(self, seen: &Untouched) -> Result<(), WorkspaceError> {
        self.area.finish_release(&self.held, &self.claim, Used::NotAtAll(seen))
    }
}

/// What is known about a worktree that is given back.
#[derive(Debug, Clone, Copy)]
pub(super) enum Used<'a> {
    /// Anything may be in it.
    Somehow,
    /// Nothing is in it that does not belong there.
    NotAtAll(&'a Untouched),
}

/// Makes a worktree free for the next run that has nothing to be scrubbed: only `HEAD` is taken off the branch. False
/// if that is not enough, or cannot be done without git.
pub(super) fn tidy(held: &Held, checkout: &Checkout, seen: &Untouched) -> Result<bool, WorkspaceError> {
    let is_plain = !checkout.git_dir.join("modules").exists() && files::head(&checkout.git_dir).is_some();
    let has_empty_folder = || seen.proof.is_none() && has_empty_folder(&checkout.work_tree).unwrap_or(true);
    if seen.has_ignored || !is_plain || has_empty_folder() {
        return Ok(false);
    }
    clean::purge(checkout)?;
    clean::lead_head(checkout, seen.commit.as_str())?;
    if let Some(proof) = &seen.proof {
        proof.leave(held);
    }
    Ok(true)
}

/// Whether there is a folder without anything in it, which git does not speak of.
fn has_empty_folder(root: &Path) -> io::Result<bool> {
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        let mut is_empty = true;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            is_empty = false;
            if entry.file_type()?.is_dir() {
                open.push(entry.path());
            }
        }
        if is_empty {
            return Ok(true);
        }
    }
    Ok(false)
}
