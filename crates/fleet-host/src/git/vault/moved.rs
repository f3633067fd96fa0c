//! Repositories that were moved to another place, with the vault that they had.
//!
//! A vault is found by the path of its repository. One whose repository is gone from its path belongs to a repository that
//! still holds a commit for it: `refs/fleet/held/<vault id>/` moves along, and no clone has it.

use std::fs;
use std::io;
use std::path::Path;

use super::claims::Claims;
use super::{Vault, noted_repo};
use crate::git::error::GitError;
use crate::git::gitdir::is_absence;
use crate::git::held::Holds;
use crate::git::workspace::rename_new;

/// Gives a repository that has no vault the one that it had at another place.
pub(super) fn take_over(vault: &Vault) -> Result<(), GitError> {
    if vault.dir.exists() {
        return Ok(());
    }
    let Some(folder) = vault.dir.parent() else { return Ok(()) };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if is_absence(&error) => return Ok(()),
        Err(error) => return Err(GitError::io(folder)(error)),
    };
    let mut left = entries.flatten().map(|entry| entry.path()).filter(|path| is_left(path, vault));
    let Some(found) = left.next() else { return Ok(()) };
    if let Some(place) = Claims::of(&found).any() {
        return Err(in_use(&found, &place));
    }
    match rename_new(&found, &vault.dir) {
        // Another process may be quicker.
        Err(error) if is_absence(&error) || error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        moved => moved.map_err(GitError::io(&found)),
    }
}

/// A run works with the vault by its path.
fn in_use(vault: &Path, place: &Path) -> GitError {
    let from = noted_repo(vault).unwrap_or_default();
    GitError::Refused(format!(
        "this repository was at {} when the run that works in {} began; move it back until the run has ended",
        from.display(),
        place.display()
    ))
}

/// Whether the vault at this path belonged to the same repository, which has moved away.
fn is_left(path: &Path, vault: &Vault) -> bool {
    let Some(origin) = noted_repo(path) else { return false };
    let is_held =
        || Holds::of(&vault.repo, path).and_then(|holds| holds.all()).is_ok_and(|all| !all.is_empty());
    !origin.exists() && is_held()
}
