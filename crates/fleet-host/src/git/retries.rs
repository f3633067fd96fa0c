//! Trying again beside a git of the user's that is at work.

use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use super::error::GitError;
use crate::bounded_wait::BoundedWait;
use crate::disk;

/// Git holds its locks for moments, and while it packs refs for about a second.
const RETRY_FOR: Duration = Duration::from_secs(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// For how long failures of git are taken for another process's lock.
#[derive(Debug)]
pub(super) struct LockRetries<'r> {
    /// The git directory that is written to.
    git_dir: &'r Path,
    /// From the first failure on: what came before may have taken long.
    patience: Option<BoundedWait>,
}

impl<'r> LockRetries<'r> {
    pub(super) const fn in_git_dir(git_dir: &'r Path) -> Self {
        Self { git_dir, patience: None }
    }

    /// Pauses before another attempt, or returns the error if that would not help or the time is over. Of a directory that
    /// cannot be written git often tells only that it failed, so the cause takes the place of that.
    pub(super) fn pause_after(&mut self, error: GitError) -> Result<(), GitError> {
        let patience = self.patience.get_or_insert_with(|| BoundedWait::new(RETRY_FOR, LONGEST_PAUSE));
        if !matches!(error, GitError::Failed { .. }) {
            return Err(error);
        }
        let refusal = disk::write_refusal(self.git_dir);
        let is_final = refusal.as_ref().is_some_and(|why| why.kind() == ErrorKind::ReadOnlyFilesystem);
        if !is_final && patience.pause() {
            return Ok(());
        }
        Err(refusal.map_or(error, |source| GitError::Io { path: self.git_dir.to_owned(), source }))
    }
}
