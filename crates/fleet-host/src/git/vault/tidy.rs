//! Giving back what no snapshot and no workspace needs any more.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::boundary::{boundary, copy_the_rest};
use super::claims::Claims;
use super::repack::repack;
use super::{Vault, bad_refs, copied};
use crate::git::commit::remove;
use crate::git::error::GitError;
use crate::git::oid::Oid;
use crate::git::publish::{ABANDONED_AFTER, sweep_keeps};
use crate::git::stamp::Stamp;

/// Older files were left by a dead process.
const DAY: i64 = 24 * 60 * 60;

/// Removes objects of the vault that were unreachable for a day, and releases commits of the user's repository that are
/// held without need.
pub fn tidy_vault(repo: &Path, dir: &Path) -> Result<(), GitError> {
    let vault = Vault::of(repo, dir)?;
    // Its time is what the file system calls now.
    vault.touch()?;
    bad_refs::put_bad_refs_aside(&vault);
    bad_refs::put_lost_refs_aside(&vault.dir)?;
    give_up_unneeded(&vault)?;
    remove_leftovers(&vault.dir);
    sweep_keeps(&vault.repo, ABANDONED_AFTER)?;
    let now = Stamp::of(&vault.dir.join("refresh.lock")).map_or(0, |stamp| stamp.seconds());
    // A process that is writing has objects that no ref leads to yet.
    repack(&vault, now - DAY)
}

/// Gives up the held commits that neither a run nor the history in the vault needs.
fn give_up_unneeded(vault: &Vault) -> Result<(), GitError> {
    let holds = vault.holds()?;
    let Some(needed) = needed(vault)? else { return Ok(()) };
    copied::forget_unneeded(vault, &needed)?;
    let unneeded = &holds.all()? - &needed;
    if unneeded.is_empty() {
        return Ok(());
    }
    holds.give_up(&unneeded)?;
    // A workspace that was opened meanwhile is registered before it looks at what it holds for the last time. So either
    // it is seen here, or it holds the commit again itself.
    let needed = self::needed(vault)?.unwrap_or_else(|| unneeded.clone());
    needed.intersection(&unneeded).try_for_each(|commit| holds.add(commit))
}

/// The commits that must be held, which they are then; `None` if that cannot be known.
fn needed(vault: &Vault) -> Result<Option<BTreeSet<Oid>>, GitError> {
    let Claims::Known { commits, .. } = Claims::of(&vault.dir) else { return Ok(None) };
    let boundary = boundary(vault)?;
    boundary.iter().try_for_each(|commit| vault.hold(commit))?;
    Ok(copy_the_rest(vault, &boundary)?.then(|| &boundary | &commits))
}

/// Removes scratch files and folders that killed processes left. What cannot be removed does no harm.
fn remove_leftovers(dir: &Path) {
    let Some(now) = Stamp::of(&dir.join("refresh.lock")).map(|stamp| stamp.seconds()) else { return };
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with("fleet-");
        let is_old = |stamp: Stamp| stamp.seconds() + DAY < now;
        if is_ours && Stamp::of(&entry.path()).is_some_and(is_old) {
            let _ = remove(&entry.path());
        }
    }
}
