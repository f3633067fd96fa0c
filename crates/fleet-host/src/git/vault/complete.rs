//! Objects that the vault only seems to have.
//!
//! Git does not write an object that it finds in a repository it borrows from. What the user's repository has there may be
//! anything: of another branch, or of nobody, and gone with the next prune. So what is new is looked for in the vault
//! itself before a ref leads to it, and copied where it is missing.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::foreign::{Take, TakeError, take};
use crate::git::oid::Oid;
use crate::git::pack_index::PackIndex;

/// Makes sure that the vault itself has all objects of a tree that are not in `from`, a commit that it keeps.
pub(in crate::git) fn complete(vault: &Path, from: Option<&Oid>, tree: &Oid) -> Result<(), GitError> {
    // Without a lender it has everything itself.
    if !vault.join("objects/info/alternates").exists() {
        return Ok(());
    }
    let mut wanted = match from {
        Some(from) => changed(vault, from, tree)?,
        None => all(vault, tree)?,
    };
    wanted.insert(tree.clone());
    let missing = missing(vault, wanted)?;
    if missing.is_empty() {
        return Ok(());
    }
    let known: Vec<Oid> = from.into_iter().cloned().collect();
    take(vault, &Take { staged: None, tips: &missing, known: &known }).map_err(|error| match error {
        TakeError::Refused { why } => GitError::Refused(format!("files cannot be kept: {why}")),
        TakeError::Git(error) => error,
    })
}

/// The files and folders of `tree` that `from` does not have.
fn changed(vault: &Path, from: &Oid, tree: &Oid) -> Result<BTreeSet<Oid>, GitError> {
    let mut found = BTreeSet::new();
    Git::about(vault)
        .args([
            "diff-tree",
            "-r",
            "-t",
            "-z",
            "--raw",
            "--no-renames",
            "--no-abbrev",
            "--ignore-submodules=all",
        ])
        .args([from.as_str(), tree.as_str()])
        .records(&mut |record| {
            let text = String::from_utf8_lossy(record);
            let Some(fields) = text.strip_prefix(':') else { return Ok(()) };
            let fields: Vec<&str> = fields.split(' ').collect();
            if let [_, mode, _, object, _] = fields.as_slice() {
                found.extend(object_of(mode, object));
            }
            Ok(())
        })?;
    Ok(found)
}

fn all(vault: &Path, tree: &Oid) -> Result<BTreeSet<Oid>, GitError> {
    let mut found = BTreeSet::new();
    Git::about(vault).args(["ls-tree", "-r", "-t", "-z", tree.as_str()]).records(&mut |record| {
        let text = String::from_utf8_lossy(record);
        let mut words = text.split(['\t', ' ']);
        if let (Some(mode), _, Some(object)) = (words.next(), words.next(), words.next()) {
            found.extend(object_of(mode, object));
        }
        Ok(())
    })?;
    Ok(found)
}

/// The object of an entry; `None` if it has none, or is a link to another repository.
fn object_of(mode: &str, object: &str) -> Option<Oid> {
    (mode != "000000" && mode != "160000").then(|| Oid::parse(object).ok()).flatten()
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
