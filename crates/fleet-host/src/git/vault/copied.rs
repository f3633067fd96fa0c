//! What the vault has a copy of although the user's repository has it.
//!
//! Mostly it borrows, and `refs/fleet/held/` keeps what it borrows. Where a remote is mirrored into all of `refs/`, the next
//! `git fetch --prune` removes those refs, so there the vault has its own copy of every commit that it needs, below
//! `refs/fleet/copied/`.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use super::Vault;
use crate::git::capture::ScratchFile;
use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::files::{self, Tip};
use crate::git::objects;
use crate::git::oid::Oid;

const FOLDER: &str = "refs/fleet/copied/";

/// The first copy is of the whole history.
const COPY_TIMEOUT: Duration = Duration::from_hours(2);

/// Copies a commit of the user's repository, and all that it reaches.
pub(super) fn copy(vault: &Vault, commit: &Oid) -> Result<(), GitError> {
    let name = format!("{FOLDER}{commit}");
    if files::commit_of(&vault.dir, &name) == Some(Tip::At(commit.clone())) {
        return Ok(());
    }
    copy_objects(&vault.dir, std::slice::from_ref(commit), &Vec::from_iter(all(vault)?))?;
    Git::about(&vault.dir).args(["update-ref", "--no-deref", &name, commit.as_str()]).run()
}

/// Copies all that refs and workspaces lead to.
pub(super) fn copy_all(vault: &Vault) -> Result<(), GitError> {
    let answer = Git::about(&vault.dir).args(["rev-list", "--no-walk", "--all"]).bytes()?;
    let tips: Vec<Oid> = oids(&answer).collect();
    copy_objects(&vault.dir, &tips, &Vec::from_iter(all(vault)?))
}

/// Forgets copies that are not needed. One that the user's repository still has stays: the next run starts near it, and a
/// copy of the whole history would be made again.
pub(super) fn forget_unneeded(vault: &Vault, needed: &BTreeSet<Oid>) -> Result<(), GitError> {
    let is_of_use = |commit: &Oid| vault.is_mirror() && objects::is_there(&vault.repo, commit);
    let line = |commit: &Oid| format!("delete {FOLDER}{commit} {commit}\n");
    let unneeded = all(vault)?.into_iter().filter(|commit| !needed.contains(commit) && !is_of_use(commit));
    let lines: String = unneeded.map(|commit| line(&commit)).collect();
    if lines.is_empty() {
        return Ok(());
    }
    let (_file, input) = ScratchFile::new(&vault.dir, "forget").with(lines.as_bytes())?;
    Git::about(&vault.dir).args(["update-ref", "--no-deref", "--stdin"]).stdin(input).run()
}

fn all(vault: &Vault) -> Result<BTreeSet<Oid>, GitError> {
    let git = Git::about(&vault.dir).args(["for-each-ref", "--format=%(objectname)", "--", FOLDER]);
    Ok(oids(&git.bytes()?).collect())
}

fn oids(lines: &[u8]) -> impl Iterator<Item = Oid> {
    let text = String::from_utf8_lossy(lines).into_owned();
    text.lines().filter_map(|line| Oid::parse(line).ok()).collect::<Vec<_>>().into_iter()
}

/// Gives the vault its own copy of what the tips reach and the known commits do not. The objects are the user's or our
/// own, so they are not checked.
pub(super) fn copy_objects(vault: &Path, tips: &[Oid], known: &[Oid]) -> Result<(), GitError> {
    let is_partial = vault.join("partial").exists();
    let tips = if is_partial { present(vault, tips)? } else { tips.to_vec() };
    if tips.is_empty() {
        return Ok(());
    }
    let wanted = tips.iter().flat_map(|tip| ["", tip.as_str(), "\n"]);
    let lines: String = wanted.chain(known.iter().flat_map(|commit| ["^", commit.as_str(), "\n"])).collect();
    let (_file, input) = ScratchFile::new(vault, "copy").with(lines.as_bytes())?;
    let mut git = Git::about(vault).setting("pack.packSizeLimit=0").args([
        "pack-objects",
        "--revs",
        "--quiet",
        "--non-empty",
        "--delta-base-offset",
        "--window=0",
    ]);
    if is_partial {
        git = git.arg("--missing=allow-any");
    }
    git.arg(vault.join("objects/pack/pack")).stdin(input).patience(COPY_TIMEOUT).bytes().map(drop)
}

/// Those objects that were fetched.
fn present(vault: &Path, objects: &[Oid]) -> Result<Vec<Oid>, GitError> {
    let lines: String = objects.iter().flat_map(|object| [object.as_str(), "\n"]).collect();
    let (_file, input) = ScratchFile::new(vault, "present").with(lines.as_bytes())?;
    let git = Git::about(vault).args(["cat-file", "--batch-check=%(objectname)"]).stdin(input);
    // A line for one that is missing says so.
    Ok(oids(&git.bytes()?).collect())
}
