//! Workspaces of an earlier version: linked worktrees of the user's repository.
//!
//! Owns how one that a run still has becomes a workspace of ours, so that the run ends as it would have, and how the
//! user's repository forgets those that are not needed any more. Can go when no home has any.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::slot::{HeldSlot, SlotClaim};
use super::{Area, WorkspaceError, clean, register};
use crate::git::capture::ScratchFile;
use crate::git::commit::remove;
use crate::git::error::GitError;
use crate::git::gitdir::is_absence;
use crate::git::oid::Oid;
use crate::git::refs;
use crate::git::vault::Vault;

/// What ties a branch to a worktree besides `HEAD`.
const UNDER_WAY: [&str; 3] = ["rebase-merge", "rebase-apply", "BISECT_START"];

/// Makes the worktree of a dead run a workspace of ours: what is committed is held, and its files are looked at with an
/// index of our own. Killed in here, the next attempt goes on.
pub(super) fn take_over(area: &Area, held: &HeldSlot, claim: SlotClaim) -> Result<SlotClaim, WorkspaceError> {
    let vault = Vault::of(&area.repo, &area.vault)?;
    let branch = refs::branch_commit(&area.repo, &claim.branch)?;
    let git_dir = claim.git_dir.clone().unwrap_or_default();
    let commit = match refs::head(&git_dir) {
        Ok(Some(commit)) => Some(commit),
        // Removed, or never made.
        Ok(None) | Err(GitError::Failed { .. }) => branch.clone(),
        Err(error) => return Err(error.into()),
    };
    let at = commit.ok_or_else(|| WorkspaceError::NoSuchBranch { branch: claim.branch.clone() })?;
    let kept: Vec<_> = branch.iter().chain([&at]).cloned().collect();
    kept.iter().try_for_each(|commit| vault.hold(commit))?;
    // Before the note, which is the last thing that tells that this is to be done.
    free_branch(area, held.path(), &at)?;
    register::unregister(area, held.path())?;
    register::register(&vault, held.path(), &at)?;
    let claim =
        SlotClaim { at: Some(at), published: branch, held: kept, git_dir: None, was_linked: true, ..claim };
    held.write_claim(&claim)?;
    Ok(claim)
}

/// Makes the branch of a linked worktree free. Nothing else of its git directory is touched before everything was saved:
/// it has the index, and the repositories of submodules.
fn free_branch(area: &Area, path: &Path, at: &Oid) -> Result<(), WorkspaceError> {
    for git_dir in registered(area, path)? {
        clean::detach(&git_dir, at)?;
        for name in UNDER_WAY {
            let (from, to) = (git_dir.join(name), git_dir.join(format!("{name}.kept")));
            match fs::rename(&from, &to) {
                Err(error) if !is_absence(&error) => return Err(WorkspaceError::io(&from)(error)),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Moves the git directories of a linked worktree into the trash of the area, which is kept. Those that are on another
/// disk come back.
pub(super) fn move_along(area: &Area, path: &Path) -> Result<Vec<PathBuf>, WorkspaceError> {
    let mut left = registered(area, path)?;
    left.retain(|git_dir| area.move_aside(git_dir).is_err());
    Ok(left)
}

/// Tells a git directory that its worktree was moved, so that it is not taken for that of the next one there.
pub(super) fn follow(git_dir: &Path, moved_to: &Path) -> Result<(), WorkspaceError> {
    let file = git_dir.join("gitdir");
    let line = [moved_to.join(".git").as_os_str().as_bytes(), b"\n"].concat();
    let (new, _) = ScratchFile::new(git_dir, "gitdir").with(&line)?;
    fs::rename(new.path(), &file).map_err(WorkspaceError::io(&file))
}

/// Makes the user's repository forget a linked worktree.
pub(super) fn forget(area: &Area, path: &Path) -> Result<(), WorkspaceError> {
    for git_dir in registered(area, path)? {
        let aside = ScratchFile::new(&area.repo, "gone");
        match fs::rename(&git_dir, aside.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            moved => moved.map_err(WorkspaceError::io(&git_dir))?,
        }
        // It may hold the repositories of submodules, too much to be deleted here. To another disk it cannot be moved.
        if area.move_aside(aside.path()).is_err() {
            remove(aside.path()).map_err(WorkspaceError::io(aside.path()))?;
        }
    }
    Ok(())
}

/// The git directories of the user's repository that say that they belong to the worktree at `path`.
fn registered(area: &Area, path: &Path) -> Result<Vec<PathBuf>, WorkspaceError> {
    let folder = area.repo.join("worktrees");
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if is_absence(&error) => return Ok(Vec::new()),
        Err(error) => return Err(WorkspaceError::io(&folder)(error)),
    };
    let dot_git = path.join(".git");
    let canonical = area.dir.canonicalize().ok().zip(path.file_name());
    let canonical = canonical.map(|(dir, name)| dir.join(name).join(".git"));
    let mut found = Vec::new();
    for entry in entries {
        let git_dir = entry.map_err(WorkspaceError::io(&folder))?.path();
        let says = read_line(&git_dir.join("gitdir"));
        if says.is_some_and(|says| says == dot_git || Some(&says) == canonical.as_ref()) {
            found.push(git_dir);
        }
    }
    Ok(found)
}

/// The path in a file of one line.
fn read_line(file: &Path) -> Option<PathBuf> {
    let content = fs::read(file).ok()?;
    let line = content.split(|byte| *byte == b'\n').next().filter(|line| !line.is_empty())?;
    Some(PathBuf::from(OsStr::from_bytes(line)))
}
