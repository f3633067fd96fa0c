//! Trying again beside a git of the user's that is at work.

use std::time::Duration;

use super::error::GitError;
use crate::patience::Patience;

/// Git holds its locks for moments, and while it packs refs for about a second.
const RETRY_FOR: Duration = Duration::from_secs(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// The time for which failures of git are taken for somebody's lock.
#[derive(Debug, Default)]
pub(super) struct Retries {
    /// Since the first failure, because what came before may have taken long.
    patience: Option<Patience>,
}

impl Retries {
    /// Pauses before another attempt, or returns the error if that would not help or the time is over.
    pub(super) fn pause_after(&mut self, error: GitError) -> Result<(), GitError> {
        let patience = self.patience.get_or_insert_with(|| Patience::new(RETRY_FOR, LONGEST_PAUSE));
        let may_help = matches!(error, GitError::Failed { .. });
        if may_help && patience.pause() { Ok(()) } else { Err(error) }
    }
}
