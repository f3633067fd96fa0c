//! The branch of a run in the user's repository.

use std::sync::PoisonError;

use super::Workspace;
use super::slot::SlotClaim;
use crate::git::error::GitError;
use crate::git::oid::Oid;
use crate::git::publish::{Compression, NotPublished, Publish, Published, publish};
use crate::git::refs;

impl Workspace {
    /// Whether the branch existed before its task, here or on a remote.
    pub fn has_existing_branch(&self) -> bool {
        self.claim.forward_only
    }

    /// Whether the branch in the user's repository has something of this run.
    pub(super) fn is_published(&self) -> bool {
        let published = self.published.lock().map_or(None, |published| published.clone());
        published.is_some() && published != self.claim.at
    }

    /// Brings the branch in the user's repository to a commit that the vault has, unless a person did something to it.
    pub fn publish(&self, commit: &Oid, compression: Compression) -> Result<Published, GitError> {
        let mut published = self.published.lock().unwrap_or_else(PoisonError::into_inner);
        if published.as_ref() == Some(commit) {
            return Ok(Published::Done);
        }
        if !self.is_forward(commit)? {
            return Ok(Published::Kept(NotPublished::Rewritten));
        }
        // Noted before it is done: after a take-over, our own changes must be distinguishable from a person's.
        let (at, intended) = (published.clone(), Some(commit.clone()));
        let noted = self.held.write_claim(&SlotClaim { published: at, intended, ..self.claim.clone() });
        noted.map_err(|error| GitError::Refused(error.to_string()))?;
        let known: Vec<Oid> = self.hold_again()?.into_iter().chain(published.clone()).collect();
        let answer = publish(&Publish {
            repo: &self.vault.repo,
            vault: &self.vault.dir,
            branch: &self.claim.branch,
            commit,
            expected: published.as_ref(),
            known: &known,
            compression,
        })?;
        if answer == Published::Done {
            *published = Some(commit.clone());
            // Without this note a branch that a person deletes would come back after a crash. The note of before is
            // still right if it cannot be written.
            let _ = self.held.write_claim(&SlotClaim { published: published.clone(), ..self.claim.clone() });
        }
        Ok(answer)
    }

    /// Whether a branch that existed before its task keeps everything that it had when the run began. What the agent
    /// published since then is its own to change.
    fn is_forward(&self, commit: &Oid) -> Result<bool, GitError> {
        match &self.claim.at {
            Some(at) if self.claim.forward_only => refs::is_ancestor(&self.vault.dir, at, commit),
            _ => Ok(true),
        }
    }

    /// The commits that the workspace was made from and that the user's repository still has. They are held again if
    /// our refs were removed.
    pub(super) fn hold_again(&self) -> Result<Vec<Oid>, GitError> {
        let mut held = Vec::new();
        for commit in &self.claim.held {
            match self.vault.hold(commit) {
                Ok(()) => held.push(commit.clone()),
                // Then the vault has a copy, and what is published is published with it.
                Err(GitError::NoSuchCommit { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(held)
    }

    /// Brings what the agent committed on its branch so far into the user's repository.
    pub fn publish_commits(&self) -> Result<Option<Published>, GitError> {
        let collected = self.collect()?;
        match collected.branch.filter(|branch| Some(branch) != self.claim.at.as_ref()) {
            Some(branch) => self.publish(&branch, Compression::Quick).map(Some),
            None => Ok(None),
        }
    }

    /// Where the branch in the user's repository was left, if it is there.
    pub fn published(&self) -> Option<Oid> {
        self.published.lock().map_or(None, |published| published.clone())
    }
}
