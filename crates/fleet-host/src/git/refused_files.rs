//! New files that git's own check refuses.
//!
//! What an agent commits is checked as a whole before it is taken. Files that it left uncommitted are committed by us, so
//! they have to pass the same check before they get into the user's repository: git reads `.gitmodules` and
//! `.gitattributes` wherever they are checked out.

use std::path::Path;

use super::error::GitError;
use super::foreign::{Take, TakeError, check};
use super::new_entries::{NewEntry, new_entries};
use super::oid::Oid;

/// The names that git checks. Git itself wrote the trees, so nothing else in them can be wrong.
const CHECKED: [&[u8]; 3] = [b".git", b".gitmodules", b".gitattributes"];

#[derive(Debug)]
pub(super) struct RefusedFiles {
    pub(super) files: Vec<NewEntry>,
    /// What git says about them.
    pub(super) why: String,
}

/// The files that are new in a tree since the commit `from` and fail git's check, as far as is known: all of the kind
/// that is checked.
pub(super) fn refused_files(
    vault: &Path,
    (from, tree): (Option<&Oid>, &Oid),
    new: &[NewEntry],
) -> Result<Option<RefusedFiles>, GitError> {
    let is_checked = |entry: &&NewEntry| !entry.now.is_folder() && is_checked(&entry.path);
    let files: Vec<NewEntry> = new.iter().filter(is_checked).cloned().collect();
    if files.is_empty() {
        return Ok(None);
    }
    let known: Vec<Oid> = from.into_iter().cloned().collect();
    match check(vault, &Take { staged: None, tips: std::slice::from_ref(tree), known: &known }) {
        Ok(()) => Ok(None),
        Err(TakeError::Refused { why }) => Ok(Some(RefusedFiles { files, why })),
        Err(TakeError::Git(error)) => Err(error),
    }
}

/// Fails if something that is only in a snapshot may not be published. What it stands on was committed by the agent.
pub(super) fn check_snapshot(vault: &Path, snapshot: &Oid, parents: &[Oid]) -> Result<(), GitError> {
    let head = parents.first();
    for commit in parents.iter().skip(1).chain([snapshot]) {
        let new = new_entries(vault, head, commit)?;
        if let Some(RefusedFiles { files, why }) = refused_files(vault, (head, commit), &new)? {
            let path = files.first().map(|file| String::from_utf8_lossy(&file.path)).unwrap_or_default();
            return Err(GitError::Refused(format!(
                "the snapshot has files that git refuses, so there is no branch of it ({}); \
                 `git --git-dir='{}' show {commit}:'{path}'` prints one",
                why.trim(),
                vault.display(),
            )));
        }
    }
    Ok(())
}

/// Whether git, or a file system, may take a part of a path for one of the names that are checked.
fn is_checked(path: &[u8]) -> bool {
    path.split(|byte| matches!(byte, b'/' | b'\\')).any(|name| {
        // macOS passes over some characters, none of them ASCII.
        let plain: Vec<u8> = name.iter().filter(|byte| byte.is_ascii()).map(u8::to_ascii_lowercase).collect();
        is_short_name(&plain) || CHECKED.iter().any(|checked| is_same_on_windows(&plain, checked))
    })
}

/// Windows passes over dots and spaces at the end, and what comes after a colon.
fn is_same_on_windows(name: &[u8], checked: &[u8]) -> bool {
    let rest = name.strip_prefix(checked);
    let is_passed_over = |rest: &[u8]| {
        let end = rest.iter().position(|byte| *byte == b':').unwrap_or(rest.len());
        rest[..end].iter().all(|byte| matches!(byte, b'.' | b' '))
    };
    rest.is_some_and(is_passed_over)
}

/// Windows has a second name for every file, such as `GITMOD~1`.
fn is_short_name(name: &[u8]) -> bool {
    let number = name.iter().position(|byte| *byte == b'~').and_then(|at| name.get(at + 1));
    name.starts_with(b"gi") && number.is_some_and(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_in_every_disguise() {
        for path in [
            ".gitmodules",
            "a/.GitAttributes",
            ".gitmodules/x",
            ".git\u{200c}modules",
            ".gitmodules . ",
            ".gitmodules::$DATA",
            "GITMOD~1",
            "gi7eba~1",
            "x\\.git",
        ] {
            assert!(is_checked(path.as_bytes()), "{path}");
        }
        for path in [".gitignore", ".github/workflows/x", "gitmodules", "gift~", "x~1", ".gitmodules2"] {
            assert!(!is_checked(path.as_bytes()), "{path}");
        }
    }
}
