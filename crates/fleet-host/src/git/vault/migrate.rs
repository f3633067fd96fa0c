//! Snapshots of an earlier version, from the user's repository into the vault.

use std::path::Path;

use super::Vault;
use super::boundary::{beginnings, users_tips};
use crate::git::capture::ScratchFile;
use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::files;
use crate::git::foreign::{Take, TakeError, take};
use crate::git::oid::Oid;
use crate::git::refs;
use crate::git::snapshot::FOLDER;

/// Whether the user's repository may have some, as far as a glance tells.
pub(super) fn may_have_some(repo: &Path) -> bool {
    repo.join(FOLDER).exists()
}

/// Moves them. Killed in between, they are in both, and the next attempt goes on.
pub(super) fn snapshots(vault: &Vault) -> Result<(), GitError> {
    let packed = files::all_packed(&vault.repo);
    let is_packed = packed.is_none_or(|refs| refs.iter().any(|(name, _)| name.starts_with(FOLDER)));
    if !is_packed && !may_have_some(&vault.repo) {
        return Ok(());
    }
    let refs = refs::list(&vault.repo, &[FOLDER])?;
    if refs.is_empty() {
        let _ = std::fs::remove_dir(vault.repo.join(FOLDER));
        return Ok(());
    }
    if move_all(vault, &refs).is_ok() {
        return Ok(());
    }
    refs.iter().try_for_each(|one| match move_all(vault, std::slice::from_ref(one)) {
        Ok(()) => Ok(()),
        Err(_) if is_broken(&vault.repo, &one.1)? => put_aside(vault, one),
        // Whole, but such that git warns of it: then the objects stay where they are.
        Err(_) => vault.hold(&one.1).and_then(|()| rename(vault, std::slice::from_ref(one))),
    })
}

/// Whether objects of a snapshot are missing.
fn is_broken(repo: &Path, commit: &Oid) -> Result<bool, GitError> {
    let git = Git::about(repo).args(["rev-list", "--objects", "--quiet", commit.as_str(), "--"]);
    Ok(git.answer()?.code == Some(128))
}

/// Notes the ref of a broken snapshot where people can look at it: here it would be in the way of every run.
fn put_aside(vault: &Vault, (name, commit): &(String, Oid)) -> Result<(), GitError> {
    let folder = vault.dir.join("bad-refs");
    std::fs::create_dir_all(&folder).map_err(GitError::io(&folder))?;
    vault.write(&format!("bad-refs/{}", name.replace('/', "-")), format!("{commit}\n").as_bytes())?;
    Git::about(&vault.repo).args(["update-ref", "--no-deref", "-d", name, commit.as_str()]).run()
}

/// Moves all of these refs, or none.
fn move_all(vault: &Vault, refs: &[(String, Oid)]) -> Result<(), GitError> {
    let tips: Vec<Oid> = refs.iter().map(|(_, commit)| commit.clone()).collect();
    let known = beginnings(vault, &tips, &users_tips(vault)?)?;
    known.iter().try_for_each(|commit| vault.hold(commit))?;
    take(&vault.dir, &Take { staged: None, tips: &tips, known: &known }).map_err(|error| match error {
        TakeError::Refused { why } => GitError::Refused(format!("old snapshots cannot be moved: {why}")),
        TakeError::Git(error) => error,
    })?;
    rename(vault, refs)
}

/// Gives them to the vault, and takes them from the user's repository.
fn rename(vault: &Vault, refs: &[(String, Oid)]) -> Result<(), GitError> {
    let update = |git_dir: &Path, verb: &str| {
        let lines = refs.iter().map(|(name, commit)| format!("{verb} {name}\0{commit}\0"));
        let lines: String = lines.map(|line| if verb == "update" { line + "\0" } else { line }).collect();
        let (_file, input) = ScratchFile::new(&vault.dir, "refs").with(lines.as_bytes())?;
        Git::about(git_dir).args(["update-ref", "--no-deref", "--stdin", "-z"]).stdin(input).run()
    };
    update(&vault.dir, "update")?;
    update(&vault.repo, "delete")
}
