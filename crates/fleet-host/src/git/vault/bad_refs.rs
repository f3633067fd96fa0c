//! Refs of the vault that say nothing, or name a commit that is not there, as a loss of power can leave them.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Vault, noted_repo};
use crate::git::capture::ScratchFile;
use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::files;
use crate::git::oid::Oid;
use crate::git::refs;

/// Where bad refs are put.
pub(super) const BAD_REFS_FOLDER: &str = "bad-refs";

/// Puts refs whose object is missing or empty aside: git would stop at one, and hide all others.
pub(in crate::git) fn put_lost_refs_aside(vault: &Path) -> Result<(), GitError> {
    // Without the repository that it borrows from, much would seem to be missing.
    if !noted_repo(vault).is_some_and(|repo| repo.join("objects").is_dir()) {
        return Ok(());
    }
    let refs = refs::list(vault, &[])?;
    if refs.is_empty() {
        return Ok(());
    }
    let lines: String = refs.iter().flat_map(|(_, oid)| [oid.as_str(), "\n"]).collect();
    let (_file, input) = ScratchFile::new(vault, "check").with(lines.as_bytes())?;
    let mut answer = Vec::new();
    // One answer for each line, in their order.
    Git::about(vault).args(["cat-file", "--batch-check"]).stdin(input).feed(&mut |piece| {
        answer.extend_from_slice(piece);
        Ok(())
    })?;
    let answer = String::from_utf8_lossy(&answer);
    let lost = refs.iter().zip(answer.lines()).filter(|(_, said)| said.ends_with(" missing"));
    lost.map(|(lost, _)| lost).try_for_each(|(name, oid)| put_aside(vault, name, oid))
}

/// Notes what a ref named, and removes it.
fn put_aside(vault: &Path, name: &str, oid: &Oid) -> Result<(), GitError> {
    let folder = vault.join(BAD_REFS_FOLDER);
    let note = folder.join(name.replace('/', "-"));
    let noted = fs::create_dir_all(&folder).and_then(|()| fs::write(&note, format!("{oid}\n")));
    noted.map_err(GitError::io(&note))?;
    Git::about(vault).args(["update-ref", "--no-deref", "-d", name, oid.as_str()]).run()
}

/// Puts bad refs aside, where people can look at them: git would stop at one, and hide all others.
pub(super) fn put_bad_refs_aside(vault: &Vault) {
    let aside = vault.dir.join(BAD_REFS_FOLDER);
    for path in bad(&vault.dir.join("refs")) {
        let name = path.strip_prefix(&vault.dir).unwrap_or(&path).to_string_lossy().replace('/', "-");
        // What cannot be moved is in the way still, and git says so.
        let _ = fs::create_dir_all(&aside).and_then(|()| fs::rename(&path, aside.join(name)));
    }
}

pub(super) fn bad(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(bad(&path)),
            _ if path.extension().is_some_and(|end| end == "lock") => {}
            _ if files::value_at(&path).is_none() => found.push(path),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_ref_goes_and_others_stay() {
        let dir = tempfile::tempdir().unwrap();
        let vault = Vault { dir: dir.path().to_owned(), repo: PathBuf::new() };
        let folder = dir.path().join("refs/fleet/snapshots/r1");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("1"), format!("{}\n", "1".repeat(40))).unwrap();
        fs::write(folder.join("2"), "").unwrap();
        fs::write(folder.join("3.lock"), "").unwrap();
        put_bad_refs_aside(&vault);
        assert!(folder.join("1").exists() && folder.join("3.lock").exists());
        assert!(!folder.join("2").exists() && dir.path().join("bad-refs/refs-fleet-snapshots-r1-2").exists());
    }
}
