//! A look at the folders of a work tree before git sees them.
//!
//! Git asks every folder whether it is a repository, and reads `.gitignore` and `.gitattributes` wherever it finds
//! them. An agent can make each of these wait forever, or lead git into a repository with settings of the agent's
//! choice. So they are found here first, by names and kinds alone: nothing is opened but folders, and no link is
//! followed.

use std::ffi::OsStr;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, DirEntry, FileType, Mode, OFlags, open, openat, statat};
use rustix::io::Errno;

use crate::git::error::GitError;

/// More entries than any work tree has. To look at them takes a minute on a slow disk, and git much longer.
const ENTRIES: u64 = 10_000_000;

/// Git reads a file of patterns into memory; a larger one than this is no file of patterns.
const PATTERNS: u64 = 8 << 20;

/// How a folder is opened.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// What git must be kept away from. Paths are relative to the root, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::git) struct Survey {
    /// Folders, apart from the root, with an entry `.git` of any kind.
    pub(in crate::git) repositories: Vec<Vec<u8>>,
    /// Folders that cannot be listed.
    pub(in crate::git) closed: Vec<Vec<u8>>,
    /// Folders whose `.gitignore` git cannot read without harm; empty for the root.
    pub(super) bad_ignore: Vec<Vec<u8>>,
    /// The same for `.gitattributes`.
    pub(super) bad_attributes: Vec<Vec<u8>>,
    /// Pipes, sockets and devices. Git neither lists nor removes them, and waits for some of them.
    special: Vec<Vec<u8>>,
    pub(in crate::git) entries: u64,
}

impl Survey {
    pub(in crate::git) fn of(root: &Path) -> Result<Self, GitError> {
        let mut survey = Self::default();
        survey.entries = walk(root, Vec::new(), &mut |found| {
            survey.note(root, found);
            Enter::Yes
        })?;
        let Self { repositories, closed, bad_ignore, bad_attributes, special, .. } = &mut survey;
        for paths in [repositories, closed, bad_ignore, bad_attributes, special] {
            paths.sort_unstable();
        }
        Ok(survey)
    }

    fn note(&mut self, root: &Path, found: &WalkItem<'_>) {
        let (folder, name, kind) = match *found {
            WalkItem::Closed { folder } => return self.closed.push(folder.to_vec()),
            WalkItem::Entry { folder, name, kind } => (folder, name, kind),
        };
        let is_harmful = || is_harmful(&root.join(OsStr::from_bytes(&joined(folder, name))), kind);
        if is_dot_git(name) {
            if !folder.is_empty() {
                self.repositories.push(folder.to_vec());
            }
        } else if is_named(name, b".gitignore") && is_harmful() {
            self.bad_ignore.push(folder.to_vec());
        } else if is_named(name, b".gitattributes") && is_harmful() {
            self.bad_attributes.push(folder.to_vec());
        } else if is_special(kind) {
            self.special.push(joined(folder, name));
        }
    }

    /// Whether git may read all of it.
    pub(in crate::git) fn is_plain(&self) -> bool {
        [&self.repositories, &self.closed, &self.bad_ignore, &self.bad_attributes]
            .iter()
            .all(|paths| paths.is_empty())
    }

    /// What has to go before git may look: repositories, files of patterns that it cannot read, and special files.
    pub(in crate::git) fn hazards(&self) -> impl Iterator<Item = Vec<u8>> {
        let files = |folders: &[Vec<u8>], name: &[u8]| -> Vec<Vec<u8>> {
            folders.iter().map(|folder| joined(folder, name)).collect()
        };
        let ignore = files(&self.bad_ignore, b".gitignore");
        let attributes = files(&self.bad_attributes, b".gitattributes");
        let repositories = outermost(&self.repositories).into_iter().map(<[u8]>::to_vec);
        repositories
            .collect::<Vec<_>>()
            .into_iter()
            .chain(ignore)
            .chain(attributes)
            .chain(self.special.clone())
    }

    /// The same for a folder, with paths relative to that.
    pub(super) fn within(&self, folder: &[u8]) -> Self {
        let prefix = joined(folder, b"");
        let below = |paths: &[Vec<u8>]| {
            let itself = paths.binary_search_by(|path| path.as_slice().cmp(folder)).map(|_| Vec::new());
            let from = paths.partition_point(|path| *path < prefix);
            let inside = paths[from..].iter().map_while(|path| path.strip_prefix(prefix.as_slice()));
            itself.into_iter().chain(inside.map(<[u8]>::to_vec)).collect()
        };
        let mut repositories: Vec<Vec<u8>> = below(&self.repositories);
        repositories.retain(|path| !path.is_empty());
        Self {
            repositories,
            closed: below(&self.closed),
            bad_ignore: below(&self.bad_ignore),
            bad_attributes: below(&self.bad_attributes),
            special: below(&self.special),
            entries: self.entries,
        }
    }
}

/// Whether git would wait for a file of patterns, or fill the memory with it. It follows no link to one.
fn is_harmful(place: &Path, kind: FileType) -> bool {
    match kind {
        FileType::Symlink | FileType::Directory => false,
        FileType::RegularFile => fs::symlink_metadata(place).is_ok_and(|metadata| metadata.len() > PATTERNS),
        _ => true,
    }
}

fn is_special(kind: FileType) -> bool {
    matches!(kind, FileType::Fifo | FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice)
}

/// What a walk comes across.
#[derive(Debug)]
pub(super) enum WalkItem<'a> {
    Entry {
        folder: &'a [u8],
        name: &'a [u8],
        kind: FileType,
    },
    /// A folder that cannot be listed.
    Closed {
        folder: &'a [u8],
    },
}

/// Whether a walk enters a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Enter {
    Yes,
    No,
}

/// Walks through a folder of the work tree, without entering any `.git`. Each folder is asked about as an entry before
/// it is entered. How many entries there were.
pub(super) fn walk(
    root: &Path,
    start: Vec<u8>,
    each: &mut dyn FnMut(&WalkItem<'_>) -> Enter,
) -> Result<u64, GitError> {
    let top = open(root, FOLDER, Mode::empty()).map_err(|errno| GitError::io(root)(errno.into()))?;
    let mut pending = vec![start];
    let mut entries = 0_u64;
    while let Some(folder) = pending.pop() {
        let listed = list(&top, &folder, &mut |name, kind| {
            entries += 1;
            let is_entered = each(&WalkItem::Entry { folder: &folder, name, kind }) == Enter::Yes;
            if is_entered && kind == FileType::Directory && !is_dot_git(name) {
                pending.push(joined(&folder, name));
            }
        });
        match listed {
            // Gone, or replaced by a file or a link: git will not enter it either.
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
            Err(_) => drop(each(&WalkItem::Closed { folder: &folder })),
        }
        if entries > ENTRIES {
            return Err(GitError::TooManyFiles { path: root.to_owned(), limit: ENTRIES });
        }
    }
    Ok(entries)
}

fn list(root: &OwnedFd, folder: &[u8], each: &mut dyn FnMut(&[u8], FileType)) -> Result<(), Errno> {
    let name: &[u8] = if folder.is_empty() { b"." } else { folder };
    for entry in Dir::new(openat(root, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            each(name, kind_of(root, folder, &entry));
        }
    }
    Ok(())
}

/// Some file systems do not say what an entry is.
fn kind_of(root: &OwnedFd, folder: &[u8], entry: &DirEntry) -> FileType {
    let told = entry.file_type();
    if told != FileType::Unknown {
        return told;
    }
    let path = joined(folder, entry.file_name().to_bytes());
    let found = statat(root, path, AtFlags::SYMLINK_NOFOLLOW);
    found.map_or(told, |stat| FileType::from_raw_mode(stat.st_mode))
}

/// Whether git takes an entry of this name for a repository.
pub(super) fn is_dot_git(name: &[u8]) -> bool {
    is_named(name, b".git")
}

fn is_named(name: &[u8], wanted: &[u8]) -> bool {
    if cfg!(target_os = "macos") { name.eq_ignore_ascii_case(wanted) } else { name == wanted }
}

/// The path of an entry in a folder, from the root.
pub(super) fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(folder.len() + 1 + name.len());
    path.extend_from_slice(folder);
    if !folder.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// The paths that are not inside another one.
pub(super) fn outermost<'a>(paths: impl IntoIterator<Item = &'a Vec<u8>>) -> Vec<&'a [u8]> {
    let mut all: Vec<&[u8]> = paths.into_iter().map(Vec::as_slice).collect();
    // Shorter paths first, and then by a set of what is there: an order by bytes has `a-b` between `a` and `a/b`.
    all.sort_unstable_by_key(|path| path.len());
    all.dedup();
    let mut kept = std::collections::HashSet::new();
    for path in all {
        if !folders_above(path).any(|above| kept.contains(above)) {
            kept.insert(path);
        }
    }
    let mut kept: Vec<_> = kept.into_iter().collect();
    kept.sort_unstable();
    kept
}

/// The path itself, the folders above it, and the root.
pub(super) fn folders_above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = (0..path.len()).rev().filter(|at| path[*at] == b'/');
    let root = (!path.is_empty()).then_some(&path[..0]);
    std::iter::once(path).chain(slashes.map(|at| &path[..at])).chain(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&str]) -> Vec<Vec<u8>> {
        names.iter().map(|name| name.as_bytes().to_vec()).collect()
    }

    #[test]
    fn only_the_outermost_folders_count() {
        let all = paths(&["a/b", "a-b", "a", "c/d/e", "c/d", "a/b/c"]);
        assert_eq!(outermost(&all), [b"a".as_slice(), b"a-b", b"c/d"]);
        assert_eq!(outermost(&paths(&["x", "", "y/z"])), [b"".as_slice()]);
    }

    #[test]
    fn repositories_and_odd_files_are_found_by_name_and_kind() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for folder in [".git/hooks/.git", "a/.git", "a/b/c", "d", "e"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("a/b/c/.git"), "gitdir: /nowhere").unwrap();
        std::os::unix::fs::symlink("/nowhere", root.join("d/.git")).unwrap();
        std::os::unix::fs::symlink(root.join("a"), root.join("linked")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", root.join("a/.gitignore")).unwrap();
        fs::File::create(root.join("d/.gitignore")).unwrap().set_len(PATTERNS + 1).unwrap();
        fs::File::create(root.join("e/.gitattributes")).unwrap().set_len(PATTERNS).unwrap();
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, root.join("a/.gitattributes"), FileType::Fifo, mode, 0).unwrap();
        let survey = Survey::of(root).unwrap();
        assert_eq!(survey.repositories, paths(&["a", "a/b/c", "d"]));
        assert_eq!((survey.bad_ignore.as_slice(), survey.closed.len()), (paths(&["d"]).as_slice(), 0));
        assert_eq!(survey.bad_attributes, paths(&["a"]));
        let inner = survey.within(b"a");
        assert_eq!((inner.repositories, inner.bad_attributes), (paths(&["b/c"]), paths(&[""])));
        assert!(survey.within(b"e").is_plain());
    }
}
