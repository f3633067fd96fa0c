//! How many paths a commit of an agent's has.
//!
//! A few small trees that name each other many times are few objects, which pass every check, and more paths than fit
//! into an index or on a disk.

use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::oid::Oid;
use crate::git::vault::Vault;

/// More files than any project has.
const MAX_PATHS: usize = 2_000_000;
/// More than the names of that many files need.
const MAX_BYTES: usize = 1 << 29;

/// Why a commit cannot be read into an index, if so.
pub(super) fn why_too_large(vault: &Vault, commit: &Oid) -> Result<Option<String>, GitError> {
    let too_large = format!("commit {commit} has more than {MAX_PATHS} paths");
    let (mut paths, mut bytes) = (0, 0);
    let list = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit.as_str()];
    let listed = Git::about(&vault.dir).args(list).feed(&mut |piece| {
        paths += piece.split(|byte| *byte == 0).count() - 1;
        bytes += piece.len();
        if paths > MAX_PATHS || bytes > MAX_BYTES {
            return Err(GitError::Refused(too_large.clone()));
        }
        Ok(())
    });
    match listed {
        Ok(()) => Ok(None),
        Err(error) => unreadable(error).map(Some),
    }
}

/// Separates what an agent's objects can cause from failures of ours.
fn unreadable(error: GitError) -> Result<String, GitError> {
    match error {
        GitError::Refused(why) => Ok(why),
        GitError::Failed { .. } | GitError::TimedOut { .. } => Ok(error.to_string()),
        error => Err(error),
    }
}
