//! Files that git does not know, such as credentials, from a person's checkout into a worktree.
//!
//! Owns which files are meant and how they get there. Must never read what is outside of the checkout or write outside
//! of the worktree, whatever links are in the way (the worktree's content comes from a repository, and from agents),
//! never replace a tracked file, and never make a private file readable for others.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use fleet_core::scope::{FileScope, ScopeError};
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, open, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

use crate::git::{Checkout, GitError, tracked_among};

/// More than anyone's credentials; a pattern that finds more is a mistake.
const MAX_FILES: usize = 1_000;
/// How many names are looked at before a pattern counts as too wide.
const MAX_NAMES_READ: usize = 500_000;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Copied {
    /// The paths, relative to both roots. They must be kept out of snapshots and commits.
    pub copied: Vec<String>,
    /// What was not copied, and why.
    pub skipped: Vec<(String, NotCopied)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotCopied {
    Tracked,
    /// It is a link to something outside of the checkout.
    LeadsOutside,
    /// A folder on its way in the worktree is a link or a file.
    NoWay,
    /// It is not a file, or the worktree has something else in its place.
    NotAFile,
    Vanished,
}

#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    #[error(transparent)]
    Pattern(#[from] ScopeError),
    #[error("the patterns of the files to copy match too much; name the files more exactly")]
    TooMany,
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("cannot copy {}", .path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl CopyError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), source }
    }
}

/// The files below `root` that the patterns match, by name, as paths relative to it. Nothing in `.git`, and nothing
/// behind a linked folder.
pub fn find_files(root: &Path, patterns: &[String]) -> Result<Vec<String>, CopyError> {
    let scope = FileScope::parse(patterns)?;
    let mut found = Vec::new();
    let mut open = vec![String::new()];
    let mut looks = 0;
    while let Some(folder) = open.pop() {
        let place = root.join(&folder);
        let entries = match fs::read_dir(&place) {
            Ok(entries) => entries,
            // What may not be looked into has nothing that could be copied.
            Err(error) if !folder.is_empty() && is_passed_over(&error) => continue,
            Err(error) => return Err(CopyError::io(&place)(error)),
        };
        for entry in entries {
            let entry = entry.map_err(CopyError::io(&place))?;
            looks += 1;
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| !name.eq_ignore_ascii_case(".git")) else {
                continue;
            };
            let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && may_hold(&scope, &path) {
                open.push(path);
            } else if !is_folder && scope.matches(&path) {
                found.push(path);
            }
            if found.len() > MAX_FILES || looks > MAX_NAMES_READ {
                return Err(CopyError::TooMany);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn is_passed_over(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Whether anything below a folder could match. A name that cannot be written as a pattern is looked into.
fn may_hold(scope: &FileScope, folder: &str) -> bool {
    let mut literal = String::with_capacity(folder.len());
    for c in folder.chars() {
        if matches!(c, '\\' | '*' | '?' | '[' | ']' | '{' | '}' | ',') {
            literal.push('\\');
        }
        literal.push(c);
    }
    FileScope::parse([literal]).map_or(true, |below| scope.overlaps(&below))
}

/// Copies files from the checkout at `root` to the same places in a worktree, readable by their owner alone.
///
/// The caller has noted the paths before: a process that dies here leaves files that must not be committed.
pub fn copy_files(root: &Path, worktree: &Checkout, paths: &[String]) -> Result<Copied, CopyError> {
    let mut result = Copied::default();
    let canonical = fs::canonicalize(root).map_err(CopyError::io(root))?;
    let tracked = tracked_among(worktree, paths)?;
    for path in paths {
        let done = if tracked.contains(path) {
            Err(NotCopied::Tracked)
        } else {
            copy_one(&canonical, &worktree.work_tree, path).map_err(CopyError::io(&root.join(path)))?
        };
        match done {
            Ok(()) => result.copied.push(path.clone()),
            Err(why) => result.skipped.push((path.clone(), why)),
        }
    }
    Ok(result)
}

/// Removes a file below `root` without following a link on the way. A missing file is fine.
pub(crate) fn remove_below(root: &Path, path: &str) -> io::Result<()> {
    let (folders, name) = split(path)?;
    match descend(root, &folders, Missing::Stop) {
        Ok(folder) => match unlinkat(&folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
        },
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

fn copy_one(root: &Path, worktree: &Path, path: &str) -> io::Result<Result<(), NotCopied>> {
    let (folders, name) = split(path)?;
    let (mut source, mode) = match open_source(root, path)? {
        Ok(source) => source,
        Err(why) => return Ok(Err(why)),
    };
    let folder = match descend(worktree, &folders, Missing::Make) {
        Ok(folder) => folder,
        Err(Errno::NOTDIR | Errno::LOOP) => return Ok(Err(NotCopied::NoWay)),
        Err(errno) => return Err(errno.into()),
    };
    match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(there) if rustix::fs::FileType::from_raw_mode(there.st_mode).is_file() => {}
        Ok(_) => return Ok(Err(NotCopied::NotAFile)),
        Err(Errno::NOENT) => {}
        Err(errno) => return Err(errno.into()),
    }
    let new = new_name();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(openat(&folder, &new, flags, mode)?);
    let written = io::copy(&mut source, &mut file)
        .and_then(|_| renameat(&folder, &new, &folder, name).map_err(io::Error::from));
    if written.is_err() {
        let _ = unlinkat(&folder, &new, AtFlags::empty());
    }
    written.map(Ok)
}

fn new_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!(".fleet-copy-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Opens a file of the checkout. A link is followed if it stays inside.
fn open_source(root: &Path, path: &str) -> io::Result<Result<(File, Mode), NotCopied>> {
    let place = match fs::canonicalize(root.join(path)) {
        Ok(place) => place,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Err(NotCopied::Vanished)),
        Err(error) => return Err(error),
    };
    let Ok(inner) = place.strip_prefix(root) else { return Ok(Err(NotCopied::LeadsOutside)) };
    if inner.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git")) {
        return Ok(Err(NotCopied::LeadsOutside));
    }
    // Without waiting, in case that it is a pipe.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(open(&place, flags, Mode::empty())?);
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(Err(NotCopied::NotAFile));
    }
    let is_program = metadata.permissions().mode() & 0o100 != 0;
    Ok(Ok((file, if is_program { Mode::RWXU } else { Mode::RUSR | Mode::WUSR })))
}

#[derive(Clone, Copy)]
enum Missing {
    Make,
    Stop,
}

/// Opens a folder below `root`, step by step, so that no step can be a link.
fn descend(root: &Path, folders: &[&str], missing: Missing) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder = open(root, flags, Mode::empty())?;
    for name in folders {
        let step = || openat(&folder, *name, flags | OFlags::NOFOLLOW, Mode::empty());
        let next = match (step(), missing) {
            (Err(Errno::NOENT), Missing::Make) => {
                match mkdirat(&folder, *name, Mode::RWXU) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(errno) => return Err(errno),
                }
                step()?
            }
            (next, _) => next?,
        };
        folder = next;
    }
    Ok(folder)
}

/// The folders of a path and its last part, each of which is a plain name.
fn split(path: &str) -> io::Result<(Vec<&str>, &str)> {
    let mut parts: Vec<&str> = path.split('/').collect();
    let plain = |part: &&str| !matches!(*part, "" | "." | "..") && !part.eq_ignore_ascii_case(".git");
    match parts.iter().all(plain).then(|| parts.pop()).flatten() {
        Some(name) => Ok((parts, name)),
        None => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a path of a file in a worktree")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_inside() {
        assert_eq!(split("a/b").unwrap(), (vec!["a"], "b"));
        for wrong in ["", "/a", "a//b", "../a", "a/./b", "a/..", ".git/config", "a/.GIT/x"] {
            assert!(split(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_folders_that_could_hold_a_match_are_looked_into() {
        let scope = FileScope::parse(["config/*.key", ".env"]).unwrap();
        assert!(may_hold(&scope, "config"));
        assert!(!may_hold(&scope, "node_modules"));
        let anywhere = FileScope::parse(["**/.env"]).unwrap();
        assert!(may_hold(&anywhere, "odd{name"));
    }
}
