//! The id under which a vault holds commits, one for each place that it was at.
//!
//! A `$FLEET_HOME` that is copied is two homes that know the same repositories. If both had the same id, each would give up
//! what the other needs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::Vault;
use crate::git::error::GitError;
use crate::git::held::{self, Holds};

/// The file with the ids of all places.
const FILE: &str = "ids.json";

/// Where a vault is, whatever it is called.
pub(super) fn of(dir: &Path) -> PathBuf {
    fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned())
}

/// Gives the vault the id of its place. What was held under another one is held under this one, too; the other may be in
/// use by the home that this is a copy of.
pub(super) fn settle_id(vault: &Vault) -> Result<(), GitError> {
    let (here, current) = (of(&vault.dir), held::vault_id(&vault.dir));
    let noted = fs::read(vault.dir.join(FILE)).ok();
    let mut ids: BTreeMap<PathBuf, String> =
        noted.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let id = match (ids.get(&here), &current) {
        (Some(id), _) => id.clone(),
        // A vault from before ids had places.
        (None, Some(current)) if ids.is_empty() => current.clone(),
        _ => held::new_id()?,
    };
    if current.as_ref() != Some(&id) {
        if let Some(current) = current {
            hold_as(vault, &current, &id)?;
        }
        vault.write(held::ID_FILE, format!("{id}\n").as_bytes())?;
    }
    if ids.insert(here, id.clone()) != Some(id) {
        let failed = GitError::io(&vault.dir);
        let bytes = serde_json::to_vec(&ids).map_err(std::io::Error::other).map_err(failed)?;
        vault.write(FILE, &bytes)?;
    }
    Ok(())
}

fn hold_as(vault: &Vault, old: &str, new: &str) -> Result<(), GitError> {
    let new = Holds::under(&vault.repo, &vault.dir, new);
    for commit in Holds::under(&vault.repo, &vault.dir, old).all()? {
        match new.add(&commit) {
            // Given up and pruned just now.
            Err(GitError::NoSuchCommit { .. }) => {}
            done => done?,
        }
    }
    Ok(())
}
