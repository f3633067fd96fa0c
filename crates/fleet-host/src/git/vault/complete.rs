//! Objects that the vault only seems to have.
//!
//! Git does not write an object that it finds in a repository it borrows from. What the user's repository has there may
//! be anything: of another branch, or of none, and gone with the next prune. So what is new is looked for in the vault
//! itself before a ref leads to it, and copied where it is missing.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::copied::copy_objects;
use crate::git::error::GitError;
use crate::git::new_entries::{NewEntry, new_entries};
use crate::git::oid::Oid;
use crate::git::pack_index::PackIndex;

/// Makes sure that the vault itself has all objects of a tree that are not in `from`, a commit that it keeps.
pub(in crate::git) fn complete(vault: &Path, from: Option<&Oid>, tree: &Oid) -> Result<(), GitError> {
    complete_new(vault, (from, tree), &new_entries(vault, from, tree)?)
}

/// The same, for one who knows what is new in the tree.
pub(in crate::git) fn complete_new(
    vault: &Path,
    (from, tree): (Option<&Oid>, &Oid),
    new: &[NewEntry],
) -> Result<(), GitError> {
    // Without a lender it has everything itself.
    if !vault.join("objects/info/alternates").exists() {
        return Ok(());
    }
    let here = new.iter().map(|entry| &entry.now).filter(|item| item.is_here());
    let missing = missing(vault, here.map(|item| &item.object).chain([tree]).cloned().collect())?;
    if missing.is_empty() {
        return Ok(());
    }
    let known: Vec<Oid> = from.into_iter().cloned().collect();
    copy_objects(vault, &missing, &known)
}

/// Those that are neither files nor in packs of the vault.
fn missing(vault: &Path, wanted: BTreeSet<Oid>) -> Result<Vec<Oid>, GitError> {
    let objects = vault.join("objects");
    let is_file = |oid: &Oid| {
        let (folder, file) = oid.as_str().split_at(2);
        objects.join(folder).join(file).is_file()
    };
    let mut missing: Vec<Oid> = wanted.into_iter().filter(|oid| !is_file(oid)).collect();
    let packs = objects.join("pack");
    let entries = fs::read_dir(&packs).map_err(GitError::io(&packs))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if missing.is_empty() {
            break;
        }
        if path.extension().is_some_and(|end| end == "idx") {
            let index = PackIndex::read(&path)?;
            missing.retain(|oid| !index.has(oid));
        }
    }
    Ok(missing)
}
