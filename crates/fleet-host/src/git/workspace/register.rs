//! Our administrative folder of a workspace: what git calls a linked worktree of the vault.
//!
//! Written by hand instead of by `git worktree add`: that fills a folder which every other git of the vault is reading
//! at the same time. Here the folder is complete before it gets its name. The layout is documented in
//! `gitrepository-layout(5)`.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::trash::rename_new;
use super::{Area, WorkspaceError};
use crate::git::capture::ScratchFile;
use crate::git::checkout::Checkout;
use crate::git::commit::remove;
use crate::git::error::GitError;
use crate::git::gitdir::is_absence;
use crate::git::oid::Oid;
use crate::git::vault::Vault;

/// The checkout of the workspace at `path`, whether or not it is registered.
pub(super) fn checkout(vault: &Vault, path: &Path) -> Checkout {
    let git_dir = vault.admin_dir(path);
    Checkout { work_tree: path.to_owned(), git_dir, common_dir: vault.dir.clone() }
}

/// Makes the administrative folder of a workspace, with `HEAD` detached at `head`.
pub(super) fn register(vault: &Vault, path: &Path, head: &Oid) -> Result<Checkout, GitError> {
    let checkout = checkout(vault, path);
    let folder = vault.dir.join("worktrees");
    fs::create_dir_all(&folder).map_err(GitError::io(&folder))?;
    build(&checkout, head).map_err(GitError::io(&checkout.git_dir))?;
    Ok(checkout)
}

fn build(checkout: &Checkout, head: &Oid) -> io::Result<()> {
    let aside = ScratchFile::new(&checkout.common_dir, "worktree");
    let place = aside.path();
    let built = (|| {
        fs::create_dir(place)?;
        fs::write(place.join("HEAD"), format!("{head}\n"))?;
        fs::write(place.join("commondir"), "../..\n")?;
        let dot_git = checkout.work_tree.join(".git");
        fs::write(place.join("gitdir"), [dot_git.as_os_str().as_bytes(), b"\n"].concat())?;
        rename_new(place, &checkout.git_dir)
    })();
    if built.is_err() {
        let _ = fs::remove_dir_all(place);
    }
    built
}

/// Removes the administrative folder of a workspace, in one step.
pub(super) fn unregister(area: &Area, path: &Path) -> Result<(), WorkspaceError> {
    let git_dir = area.known_vault().admin_dir(path);
    let aside = ScratchFile::new(&area.vault, "gone");
    match fs::rename(&git_dir, aside.path()) {
        Err(error) if is_absence(&error) => return Ok(()),
        moved => moved.map_err(WorkspaceError::io(&git_dir))?,
    }
    remove(aside.path()).map_err(WorkspaceError::io(aside.path()))
}
