//! Workspaces in which nothing was changed, as with most read-only tasks.
//!
//! Owns how that is proven, and how such a workspace goes back without being scrubbed: one git process instead of six,
//! and none at all where the metadata of the files proves it.

use std::fs;
use std::io;
use std::path::Path;

use super::agent_repo::AgentRepo;
use super::fingerprint::{Fingerprint, Proof};
use super::slot::HeldSlot;
use super::{Area, Workspace, WorkspaceError, clean};
use crate::git::capture::Survey;
use crate::git::checkout::Checkout;
use crate::git::command::Git;
use crate::git::files::{self, Tip};
use crate::git::oid::Oid;
use crate::git::stamp::Stamp;

/// Proof that a workspace has the files of its commit, and nothing else that is not ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untouched {
    has_ignored: bool,
    /// Its fingerprint, if that proved it.
    pub(super) proof: Option<Proof>,
}

impl Workspace {
    /// Whether nothing was done here since `base`: no commit, no change, no new file. `None` if something was, or if
    /// that is unknown. No process may be working in it.
    pub fn untouched(&self, base: &Oid) -> Option<Untouched> {
        let checkout = self.checkout().ok()?;
        let is_at_base = self.claim.at.as_ref() == Some(base)
            && files::head_commit(&checkout.git_dir) == Some(Tip::At(base.clone()));
        if !is_at_base || self.is_published() {
            return None;
        }
        let is_same_index = self.index.is_some() && self.index == self.agent_index();
        let is_same = is_same_index && self.repo.as_ref().is_some_and(AgentRepo::is_untouched);
        if is_same && let Some(proof) = self.proof(base) {
            return Some(Untouched { has_ignored: false, proof: Some(proof) });
        }
        if !is_same && !self.has_nothing_of_an_agent() {
            return None;
        }
        Self::ask_git(&checkout)
    }

    pub(super) fn agent_index(&self) -> Option<Stamp> {
        Stamp::of(&self.checkout.work_tree.join(".git/index"))
    }

    /// Asks git for changed and new files.
    fn ask_git(checkout: &Checkout) -> Option<Untouched> {
        // Git must not run in others.
        Survey::of(&checkout.work_tree).ok().filter(Survey::is_plain)?;
        let (mut is_changed, mut has_ignored) = (false, false);
        Git::within(checkout)
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
        (!is_changed).then_some(Untouched { has_ignored, proof: None })
    }

    /// Whether [`untouched`](Self::untouched) is a matter of milliseconds.
    pub fn is_quick_to_check(&self) -> bool {
        self.print.is_some()
    }

    /// Whether all files are as they were when the workspace was opened.
    fn proof(&self, base: &Oid) -> Option<Proof> {
        let (index, print) = (Stamp::of(&self.checkout.git_dir.join("index"))?, self.print?);
        let commit = base.as_str().to_owned();
        (Fingerprint::again(&self.checkout.work_tree)? == print).then_some(Proof { commit, index, print })
    }

    /// Gives the workspace back to the pool, as [`release`](Self::release) does, knowing that nothing was done in it.
    ///
    /// The note stays as it is: a take-over from a killed process finds nothing in the workspace either.
    pub fn release_untouched(self, seen: &Untouched) -> Result<(), WorkspaceError> {
        self.area.finish_release(&self.held, &self.claim, UsedWorktree::NotAtAll(seen))
    }
}

/// What is known about a returned worktree.
#[derive(Debug, Clone, Copy)]
pub(super) enum UsedWorktree<'a> {
    /// Anything may be in it.
    Somehow,
    /// It holds nothing that does not belong there.
    NotAtAll(&'a Untouched),
}

/// Makes a workspace free for the next run that has nothing to be scrubbed. False if that is not enough.
pub(super) fn tidy(
    area: &Area,
    held: &HeldSlot,
    checkout: &Checkout,
    seen: &Untouched,
) -> Result<bool, WorkspaceError> {
    let has_submodules = checkout.work_tree.join(".gitmodules").exists();
    let has_empty_folder = || seen.proof.is_none() && has_empty_folder(&checkout.work_tree).unwrap_or(true);
    if seen.has_ignored || has_submodules || has_empty_folder() {
        return Ok(false);
    }
    if seen.proof.is_none() && !clean::modes_restored(area, checkout)? {
        return Ok(false);
    }
    clean::purge(checkout)?;
    if let Some(proof) = &seen.proof {
        proof.leave(held);
    }
    Ok(true)
}

/// Whether there is an empty folder, which git does not report.
fn has_empty_folder(root: &Path) -> io::Result<bool> {
    let (mut open, repository) = (vec![root.to_owned()], root.join(".git"));
    while let Some(folder) = open.pop() {
        let mut is_empty = true;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            is_empty = false;
            if entry.file_type()?.is_dir() && entry.path() != repository {
                open.push(entry.path());
            }
        }
        if is_empty {
            return Ok(true);
        }
    }
    Ok(false)
}
