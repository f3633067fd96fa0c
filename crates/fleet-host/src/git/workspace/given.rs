//! What the repository of an agent had when it was given to it.

use std::fs;
use std::path::PathBuf;

use crate::git::checkout::Checkout;
use crate::git::error::GitError;
use crate::git::vault::AgentRefs;

fn file(checkout: &Checkout) -> PathBuf {
    checkout.git_dir.join("given.json")
}

pub(super) fn note(checkout: &Checkout, given: &AgentRefs) -> Result<(), GitError> {
    let file = file(checkout);
    let bytes = serde_json::to_vec(given).map_err(std::io::Error::other).map_err(GitError::io(&file))?;
    if fs::read(&file).is_ok_and(|noted| noted == bytes) {
        return Ok(());
    }
    fs::write(&file, bytes).map_err(GitError::io(&file))
}

/// The note; empty if it is lost: then everything counts as the agent's.
pub(super) fn noted(checkout: &Checkout) -> AgentRefs {
    let noted = fs::read(file(checkout)).ok();
    noted.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}
