//! Worktrees that an agent made of its repository.
//!
//! Their files may be anywhere and are not ours to look at. What was committed and staged in them is in the agent's
//! repository, and only their own `HEAD`, log and index lead to it.

use super::Workspace;
use super::collect::OtherWork;
use super::object_transfer::ObjectTransfer;
use crate::git::foreign::{ForeignError, ForeignGitDir, Refs, Unreadable};
use crate::git::oid::Oid;
use crate::git::snapshot::commit_tree;

/// One worktree, as its administrative folder says.
pub(super) struct Worktree {
    name: String,
    foreign: ForeignGitDir,
    head: Option<Oid>,
    /// The commits that its `HEAD` was at, and changes that a rebase there put aside.
    pub(super) visited: Vec<Oid>,
}

/// All worktrees of a repository. Notes why one cannot be read.
pub(super) fn read(foreign: &ForeignGitDir, refs: &Refs, unread: &mut Option<String>) -> Vec<Worktree> {
    let found = foreign.worktrees().unwrap_or_else(|error| {
        *unread = Some(error.to_string());
        Vec::new()
    });
    let mut all = Vec::new();
    for (name, foreign) in found {
        match look(name, foreign, refs) {
            Ok(worktree) => all.push(worktree),
            Err(error) => *unread = Some(error.to_string()),
        }
    }
    all
}

fn look(name: String, foreign: ForeignGitDir, refs: &Refs) -> Result<Worktree, Unreadable> {
    let (at, mut visited) = (foreign.head()?, foreign.visited()?);
    // A branch that was deleted while it was checked out there.
    let head = foreign.commit(refs, &at).or_else(|| visited.first().cloned());
    visited.extend(foreign.stashes()?);
    Ok(Worktree { name, foreign, head, visited })
}

impl Worktree {
    /// What it has checked out.
    pub(super) fn work(&self) -> Option<OtherWork> {
        let commit = self.head.clone()?;
        Some(OtherWork { what: format!("worktree {}", self.name), commit })
    }

    /// What is staged in it, as a commit. The same content makes the same commit.
    pub(super) fn staged(
        &self,
        workspace: &Workspace,
        taking: &mut ObjectTransfer<'_>,
        unread: &mut Option<String>,
    ) -> Result<Option<OtherWork>, ForeignError> {
        let Some(head) = &self.head else { return Ok(None) };
        let Some(tree) = taking.index_of(&self.foreign, head, unread)? else { return Ok(None) };
        let what = format!("staged files of worktree {}", self.name);
        let commit = commit_tree(&workspace.checkout, (&tree, &[head]), &what, 0)?;
        Ok(Some(OtherWork { what, commit }))
    }
}
