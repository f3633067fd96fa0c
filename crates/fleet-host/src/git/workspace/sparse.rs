//! Files that an agent does not have on purpose, because it asked for a sparse checkout.
//!
//! Owns how our own index learns which those are: without that they would look removed, and would be committed as such.
//! An index that knows of such files is never used for another run, which is to have them all.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use crate::git::capture::ScratchFile;
use crate::git::checkout::Checkout;
use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::gitdir::is_absence;

/// In the administrative folder of a workspace whose index leaves files out.
fn note(checkout: &Checkout) -> PathBuf {
    checkout.git_dir.join("sparse")
}

/// Leaves the files out of our index that the agent's index leaves out and that are not there. A forged index can only
/// bring files back that way.
pub(super) fn follow(checkout: &Checkout, theirs: &ScratchFile) -> Result<(), GitError> {
    let patterns = checkout.work_tree.join(".git/info/sparse-checkout");
    if fs::symlink_metadata(patterns).is_err() {
        return Ok(());
    }
    let left_out = left_out(checkout, theirs)?;
    let mut known = Vec::new();
    Git::within(checkout).args(["ls-files", "-z"]).records(&mut |path| {
        if left_out.contains(path) {
            known.extend_from_slice(path);
            known.push(0);
        }
        Ok(())
    })?;
    if known.is_empty() {
        return Ok(());
    }
    let note = note(checkout);
    fs::write(&note, "").map_err(GitError::io(&note))?;
    let (_file, paths) = ScratchFile::new(&checkout.git_dir, "sparse").with(&known)?;
    Git::within(checkout).args(["update-index", "-z", "--skip-worktree", "--stdin"]).stdin(paths).run()
}

fn left_out(checkout: &Checkout, theirs: &ScratchFile) -> Result<BTreeSet<Vec<u8>>, GitError> {
    let is_gone = |path: &[u8]| {
        let place = checkout.work_tree.join(OsStr::from_bytes(path));
        fs::symlink_metadata(place).is_err_and(|error| is_absence(&error))
    };
    let mut paths = BTreeSet::new();
    Git::within(checkout).index(theirs.path()).args(["ls-files", "-t", "-z"]).records(&mut |record| {
        paths.extend(record.strip_prefix(b"S ").filter(|path| is_gone(path)).map(<[u8]>::to_vec));
        Ok(())
    })?;
    Ok(paths)
}

/// Removes an index that leaves files out.
pub(super) fn forget(checkout: &Checkout) -> Result<(), GitError> {
    if !note(checkout).exists() {
        return Ok(());
    }
    let index = checkout.git_dir.join("index");
    match fs::remove_file(&index) {
        Err(error) if !is_absence(&error) => Err(GitError::io(&index)(error)),
        _ => Ok(()),
    }
}
