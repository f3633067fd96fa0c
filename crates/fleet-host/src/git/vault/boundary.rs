//! Where the history that the vault has itself meets what it borrows.
//!
//! That a held commit is an ancestor of nothing here does not make it needless: an agent may have gone back behind it and
//! committed there, and then only the held commit keeps what the new one was made on. So the commits that must be held
//! are those at the boundary, and what else is borrowed is copied before anything is given up.

use std::collections::BTreeSet;
use std::time::Duration;

use super::Vault;
use super::repack::own_objects;
use crate::git::capture::ScratchFile;
use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::foreign::{Take, TakeError, take};
use crate::git::oid::Oid;

/// For reading a whole vault and what it borrows.
const READ_TIMEOUT: Duration = Duration::from_hours(2);

/// The newest commits that refs and workspaces reach and that the vault does not have itself.
pub(super) fn boundary(vault: &Vault) -> Result<BTreeSet<Oid>, GitError> {
    let own = own_objects(vault)?;
    let mut found = BTreeSet::new();
    let all = || Git::about(&vault.dir).args(["rev-list", "--all"]).patience(READ_TIMEOUT);
    each_line(all().arg("--no-walk"), &mut |line| {
        found.extend(Oid::parse(line).ok().filter(|tip| !own.contains(tip)));
    })?;
    each_line(all().arg("--parents"), &mut |line| {
        let mut commits = line.split(' ').filter_map(|word| Oid::parse(word).ok());
        if commits.next().is_some_and(|commit| own.contains(&commit)) {
            found.extend(commits.filter(|parent| !own.contains(parent)));
        }
    })?;
    Ok(found)
}

/// Copies what refs and workspaces reach, and neither the vault itself nor one of these commits has. False if that was
/// refused.
pub(super) fn copy_the_rest(vault: &Vault, boundary: &BTreeSet<Oid>) -> Result<bool, GitError> {
    let own = own_objects(vault)?;
    let lines: String = boundary.iter().flat_map(|commit| ["^", commit.as_str(), "\n"]).collect();
    let (_file, input) = ScratchFile::new(&vault.dir, "boundary").with(lines.as_bytes())?;
    let mut git = Git::about(&vault.dir).args(["rev-list", "--objects", "--no-object-names", "--all"]);
    if vault.is_partial() {
        git = git.arg("--missing=allow-any");
    }
    let mut missing = BTreeSet::new();
    each_line(git.arg("--stdin").stdin(input).patience(READ_TIMEOUT), &mut |line| {
        missing.extend(Oid::parse(line).ok().filter(|object| !own.contains(object)));
    })?;
    let (tips, known) = (Vec::from_iter(missing), Vec::from_iter(boundary.clone()));
    match take(&vault.dir, &Take { staged: None, tips: &tips, known: &known }) {
        Ok(()) => Ok(true),
        Err(TakeError::Refused { .. }) => Ok(false),
        Err(TakeError::Git(error)) => Err(error),
    }
}

/// The commits at which the history of `tips` leaves that of `others`; a tip that is in it is one itself.
pub(in crate::git) fn beginnings(
    vault: &Vault,
    tips: &[Oid],
    others: &BTreeSet<Oid>,
) -> Result<Vec<Oid>, GitError> {
    let tip_lines = tips.iter().flat_map(|tip| ["", tip.as_str(), "\n"]);
    let lines: String =
        tip_lines.chain(others.iter().flat_map(|other| ["^", other.as_str(), "\n"])).collect();
    let (_file, input) = ScratchFile::new(&vault.dir, "tips").with(lines.as_bytes())?;
    let git = Git::about(&vault.dir).args(["rev-list", "--boundary", "--ignore-missing", "--stdin"]);
    let (mut found, mut new) = (Vec::new(), BTreeSet::new());
    each_line(git.stdin(input).patience(READ_TIMEOUT), &mut |line| match line.strip_prefix('-') {
        Some(commit) => found.extend(Oid::parse(commit).ok()),
        None => new.extend(Oid::parse(line).ok()),
    })?;
    found.extend(tips.iter().filter(|tip| !new.contains(tip)).cloned());
    Ok(found)
}

/// The tips of the user's own branches and tags, and of those of remotes.
pub(in crate::git) fn users_tips(vault: &Vault) -> Result<BTreeSet<Oid>, GitError> {
    let mut tips = BTreeSet::new();
    let folders = ["refs/heads", "refs/remotes", "refs/tags"];
    let git = Git::about(&vault.repo).args(["for-each-ref", "--format=%(objectname)", "--"]).args(folders);
    each_line(git, &mut |line| tips.extend(Oid::parse(line).ok()))?;
    Ok(tips)
}

fn each_line(git: Git, each: &mut dyn FnMut(&str)) -> Result<(), GitError> {
    let mut open = Vec::new();
    git.feed(&mut |piece| {
        open.extend_from_slice(piece);
        let Some(end) = open.iter().rposition(|byte| *byte == b'\n') else { return Ok(()) };
        String::from_utf8_lossy(&open[..end]).lines().for_each(&mut *each);
        open.drain(..=end);
        Ok(())
    })
}
