//! Which paths of a work tree have to be read again.
//!
//! One `git ls-files` says what is tracked, changed, untracked and hidden by flags. Its answer is judged here, path
//! by path, because `git add` gives up on the first file that vanishes under it.

use std::collections::HashSet;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::{ffi::OsStr, io};

use rustix::fs::{Mode, OFlags, open};

use super::guard::{Guard, IndexEntry};
use super::paths::{FileOrigin, PathList};
use super::walk::joined;
use super::{Skipped, SkippedWhy, Skips};
use crate::git::checkout::Checkout;
use crate::git::command::Git;
use crate::git::error::GitError;

#[derive(Debug, Clone, Copy)]
pub(super) struct CaptureLimits<'a> {
    pub(super) exclude: &'a HashSet<&'a [u8]>,
    pub(super) max_file: Option<u64>,
}

/// The answer, as far as it is not in the list of paths to read.
#[derive(Debug, Default)]
pub(super) struct Listed {
    /// Tracked, but hidden from git by a flag that would keep it from looking at them.
    pub(super) flagged: Vec<Vec<u8>>,
    /// Tracked, but now something that cannot be tracked.
    pub(super) gone: Vec<Vec<u8>>,
    /// Repositories inside of the work tree that appeared after it was looked through.
    pub(super) embedded: Vec<Vec<u8>>,
    pub(super) skips: Skips,
}

/// One line of `git ls-files -s -v`.
#[derive(Debug, PartialEq, Eq)]
struct ListRecord<'a> {
    tag: u8,
    is_link: bool,
    path: &'a [u8],
}

impl<'a> ListRecord<'a> {
    fn parse(record: &'a [u8]) -> Option<Self> {
        let (tag, rest) = (*record.first()?, record.get(2..)?);
        if tag == b'?' {
            return Some(Self { tag, is_link: false, path: rest });
        }
        let tab = rest.iter().position(|byte| *byte == b'\t')?;
        Some(Self { tag, is_link: rest.starts_with(b"160000 "), path: &rest[tab + 1..] })
    }
}

/// Goes through a work tree with the index `index` and adds what has to be read to `paths`.
pub(super) fn list(
    checkout: &Checkout,
    index: &Path,
    limits: CaptureLimits<'_>,
    guard: &Guard,
    paths: &mut PathList,
) -> Result<Listed, GitError> {
    let mut walk = ListWalk::new(checkout, limits, paths);
    Git::within(checkout)
        .index(index)
        .args(["ls-files", "-z", "-v", "-s", "-c", "-m"])
        .args(guard.others())
        .records(&mut |record| {
            let record = ListRecord::parse(record).ok_or_else(|| GitError::Unexpected {
                command: "ls-files".to_owned(),
                answer: String::from_utf8_lossy(record).into_owned(),
            })?;
            walk.take(&record)
        })?;
    guard.list_plain(checkout, &mut |path| walk.take_plain(path))?;
    let closed = guard.closed.iter().map(|path| (path.clone(), SkippedWhy::Unreadable));
    let large = guard.large.iter().map(|path| (joined(path, b""), SkippedWhy::TooMany));
    for (path, why) in closed.chain(large) {
        walk.listed.skips.add(Skipped { path, why });
    }
    Ok(walk.listed)
}

/// Adds tracked files that git was not asked about, changed or not.
pub(super) fn list_tracked(
    checkout: &Checkout,
    limits: CaptureLimits<'_>,
    files: &[IndexEntry],
    listed: &mut Listed,
    paths: &mut PathList,
) -> Result<(), GitError> {
    let mut walk = ListWalk::new(checkout, limits, paths);
    for IndexEntry { path, .. } in files.iter().filter(|file| !limits.exclude.contains(file.path.as_slice()))
    {
        walk.judge(path, false)?;
    }
    let Listed { gone, skips, .. } = walk.listed;
    listed.gone.extend(gone);
    listed.skips.append(skips);
    Ok(())
}

struct ListWalk<'a> {
    root: &'a Path,
    limits: CaptureLimits<'a>,
    paths: &'a mut PathList,
    listed: Listed,
    /// The path that was judged last: a changed file is listed several times in a row.
    last: Vec<u8>,
    /// The last folder that was found to be reached without a link.
    parent: PathBuf,
}

impl<'a> ListWalk<'a> {
    fn new(checkout: &'a Checkout, limits: CaptureLimits<'a>, paths: &'a mut PathList) -> Self {
        Self {
            root: &checkout.work_tree,
            limits,
            paths,
            listed: Listed::default(),
            last: Vec::new(),
            parent: PathBuf::new(),
        }
    }

    fn take(&mut self, record: &ListRecord<'_>) -> Result<(), GitError> {
        if self.limits.exclude.contains(record.path) {
            return Ok(());
        }
        match record.tag {
            b'?' if record.path.ends_with(b"/") => {
                self.listed.embedded.push(record.path[..record.path.len() - 1].to_vec());
                Ok(())
            }
            b'H' => Ok(()),
            // Not checked out on purpose, unless it is there all the same.
            b'S' | b's' if fs::symlink_metadata(self.place(record.path)).is_err() => Ok(()),
            b'S' | b'a'..=b'z' => {
                if self.listed.flagged.last().is_none_or(|last| last != record.path) {
                    self.listed.flagged.push(record.path.to_vec());
                }
                Ok(())
            }
            _ if record.path == self.last => Ok(()),
            tag => {
                self.last = record.path.to_vec();
                self.judge(record.path, tag == b'?')
            }
        }
    }

    fn place(&self, path: &[u8]) -> PathBuf {
        self.root.join(OsStr::from_bytes(path))
    }

    /// A file that may or may not be ignored.
    fn take_plain(&mut self, path: &[u8]) -> Result<(), GitError> {
        if self.limits.exclude.contains(path) { Ok(()) } else { self.judge(path, true) }
    }

    fn judge(&mut self, path: &[u8], untracked: bool) -> Result<(), GitError> {
        let place = self.place(path);
        if !untracked && self.is_beyond_a_link(&place) {
            self.listed.gone.push(path.to_vec());
            return Ok(());
        }
        let origin = if untracked { FileOrigin::New } else { FileOrigin::Tracked };
        match readable(&place, self.limits.max_file).and_then(|bytes| self.paths.take_room(origin, bytes)) {
            Ok(bytes) => self.paths.push(path, bytes),
            // Told to git all the same, if it is tracked: that is how it learns of the removal.
            Err(SkippedWhy::Vanished) if untracked => Ok(()),
            Err(SkippedWhy::Vanished) if self.paths.is_unfiltered(path) => {
                self.listed.gone.push(path.to_vec());
                Ok(())
            }
            Err(SkippedWhy::Vanished) => self.paths.push(path, 0),
            Err(why) => {
                if why == SkippedWhy::Special && !untracked {
                    self.listed.gone.push(path.to_vec());
                }
                self.listed.skips.add(Skipped { path: path.to_vec(), why });
                Ok(())
            }
        }
    }

    /// Whether a folder above was replaced by a link: then the file is not in the work tree any more.
    fn is_beyond_a_link(&mut self, place: &Path) -> bool {
        let Some(parent) = place.parent() else { return false };
        if parent == self.parent {
            return false;
        }
        let linked = parent
            .ancestors()
            .take_while(|above| *above != self.root)
            .any(|above| fs::symlink_metadata(above).is_ok_and(|metadata| metadata.is_symlink()));
        if !linked {
            parent.clone_into(&mut self.parent);
        }
        linked
    }
}

/// Whether git will be able to read what is at `place`, and how large it is.
pub(super) fn readable(place: &Path, max_file: Option<u64>) -> Result<u64, SkippedWhy> {
    use io::ErrorKind::{NotADirectory, NotFound};
    let metadata = fs::symlink_metadata(place).map_err(|error| match error.kind() {
        NotFound | NotADirectory => SkippedWhy::Vanished,
        _ => SkippedWhy::Unreadable,
    })?;
    let kind = metadata.file_type();
    if kind.is_symlink() || kind.is_dir() {
        return Ok(0);
    }
    if !kind.is_file() {
        return Err(SkippedWhy::Special);
    }
    if max_file.is_some_and(|max| metadata.len() > max) {
        return Err(SkippedWhy::TooLarge { bytes: metadata.len() });
    }
    // Without waiting, in case that it has just become a pipe.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match open(place, flags, Mode::empty()) {
        Ok(_) => Ok(metadata.len()),
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => Err(SkippedWhy::Vanished),
        Err(_) => Err(SkippedWhy::Unreadable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_lines_of_git() {
        let parse = ListRecord::parse;
        let file = b"C 100644 78981922613b2afb6025042ff6bd878ac1994e85 0\t- odd\tname\n";
        assert_eq!(parse(file), Some(ListRecord { tag: b'C', is_link: false, path: b"- odd\tname\n" }));
        let link = b"H 160000 78981922613b2afb6025042ff6bd878ac1994e85 0\tlib";
        assert_eq!(parse(link), Some(ListRecord { tag: b'H', is_link: true, path: b"lib" }));
        assert_eq!(parse(b"? a\tb/"), Some(ListRecord { tag: b'?', is_link: false, path: b"a\tb/" }));
        assert_eq!(parse(b"H nothing"), None);
        assert_eq!(parse(b""), None);
    }
}
