//! Bringing a workspace back to a state that is known, and proving it.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use super::slot::HeldSlot;
use super::{Area, KeepFiles, WorkspaceError, hazards, modes, register, sparse};
use crate::git::capture::ScratchFile;
use crate::git::checkout::Checkout;
use crate::git::command::Git;
use crate::git::commit::remove;
use crate::git::error::GitError;
use crate::git::oid::Oid;
use crate::git::vault::Vault;

/// A checkout of a large project from a slow disk, with filters that ask a server.
pub(super) const CHECKOUT_TIMEOUT: Duration = Duration::from_hours(2);

/// What the administrative folder of a clean workspace has. Everything else in it is a leftover of a killed process.
const KEPT_FILES: [&str; 5] = ["HEAD", "index", "gitdir", "commondir", "given.json"];

/// The checkout of a slot whose administrative folder is in order; `None` if there is none.
pub(super) fn connected(vault: &Vault, path: &Path) -> Option<Checkout> {
    let checkout = register::checkout(vault, path);
    let back = fs::read(checkout.git_dir.join("gitdir")).ok()?;
    let is_ours = back.strip_suffix(b"\n") == Some(path.join(".git").as_os_str().as_bytes());
    (is_real_folder(path) && is_ours && checkout.git_dir.join("HEAD").is_file()).then_some(checkout)
}

/// Removes everything from the administrative folder of a workspace that does not belong to a clean one.
pub(super) fn purge(checkout: &Checkout) -> Result<(), WorkspaceError> {
    let folder = &checkout.git_dir;
    sparse::forget(checkout)?;
    for entry in fs::read_dir(folder).map_err(WorkspaceError::io(folder))? {
        let entry = entry.map_err(WorkspaceError::io(folder))?;
        if !KEPT_FILES.iter().any(|name| entry.file_name() == **name) {
            remove(&entry.path()).map_err(WorkspaceError::io(&entry.path()))?;
        }
    }
    Ok(())
}

/// Detaches our `HEAD` at a commit.
pub(in crate::git) fn set_head(checkout: &Checkout, commit: &Oid) -> Result<(), GitError> {
    detach(&checkout.git_dir, commit)
}

/// Detaches the `HEAD` of a git directory, in one step. Git's own lock is not used: the dead may have left it, and in
/// the git directory of an agent it may be a link.
pub(super) fn detach(git_dir: &Path, commit: &Oid) -> Result<(), GitError> {
    let head = git_dir.join("HEAD");
    let (new, _) = ScratchFile::new(git_dir, "head").with(format!("{commit}\n").as_bytes())?;
    fs::rename(new.path(), &head).map_err(GitError::io(&head))
}

/// Whether nothing is in the workspace that is not in its commit. It has no hazards.
pub(super) fn is_clean(checkout: &Checkout, keep: KeepFiles) -> Result<bool, GitError> {
    let ignored = match keep {
        KeepFiles::Nothing => "--ignored=traditional",
        KeepFiles::Ignored => "--ignored=no",
    };
    let mut clean = true;
    let asked = Git::within(checkout)
        .args(["status", "--porcelain=v2", "-z", "--untracked-files=normal", "--ignore-submodules=none"])
        .arg(ignored)
        .feed(&mut |piece| {
            clean &= piece.is_empty();
            Ok(())
        });
    match asked {
        Ok(()) => Ok(clean),
        Err(GitError::Failed { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Makes a workspace as clean as git can, at a commit if one is named: the next run mostly starts where this one did.
/// False if something stays, or if that is not known.
pub(super) fn scrub(
    area: &Area,
    held: &HeldSlot,
    (checkout, at): (&Checkout, Option<&Oid>),
) -> Result<bool, WorkspaceError> {
    purge(checkout)?;
    if !hazards::remove(area, checkout)? {
        return Ok(false);
    }
    let succeeds = |args: &[&str]| -> Result<bool, WorkspaceError> {
        let git = Git::within(checkout)
            .with_filters()
            .args(args)
            .stdin(held.shared_lock()?)
            .patience(CHECKOUT_TIMEOUT);
        Ok(git.answer()?.code == Some(0))
    };
    let clean = match area.keep {
        KeepFiles::Nothing => "-ffdxq",
        KeepFiles::Ignored => "-ffdq",
    };
    let mut switch = vec!["checkout", "--quiet", "--force", "--no-guess", "--detach"];
    switch.extend(at.map(Oid::as_str));
    switch.push("--");
    let done = succeeds(&switch)? && succeeds(&["clean", clean])?;
    Ok(done && modes_restored(area, checkout)? && is_clean(checkout, area.keep)?)
}

/// Whether nothing is left of the modes that an agent set. The workspace has only what belongs there.
pub(super) fn modes_restored(area: &Area, checkout: &Checkout) -> Result<bool, WorkspaceError> {
    modes::restore(area, &checkout.work_tree).map_err(WorkspaceError::io(&checkout.work_tree))
}

/// Whether the folder of a workspace is a folder, and not a link that an agent put in its place, or in that of the
/// folders above it: git would follow it, and clean whatever it finds there.
pub(in crate::git) fn is_real_folder(path: &Path) -> bool {
    let is_folder = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    path.ancestors().take(LEVELS).all(is_folder)
}

/// The workspace, and the folder of the project's. That of all projects may be a link of the user's, to a larger disk.
const LEVELS: usize = 2;
