//! The object files of a repository, brought to a place that only we write to.
//!
//! Files are linked rather than copied, so their writer can still change their content: names and kinds are certain
//! afterwards, `take` checks the content.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, linkat, open, openat, statat, unlinkat};
use rustix::io::Errno;

use super::folder::{EntryKind, Folder, FolderEntry};
use super::{ForeignError, Unreadable};
use crate::git::capture::ScratchFile;
use crate::git::error::GitError;
use crate::git::temporary::Temporary;

/// A repository with more files than this is refused.
const MAX_FILES: usize = 2_000_000;
/// Git looks through all packs for every object. It repacks them when there are fifty.
const MAX_PACKS: usize = 10_000;
/// How much is copied where files cannot be linked.
const MAX_BYTES: u64 = 64 << 30;

/// A loose object of this size is large.
const LARGE: u64 = 1 << 20;
/// Compressing this much takes seconds.
const LARGE_BYTES: u64 = 64 << 20;

/// Object files of an agent, in an object directory of ours. Removed when it is dropped.
#[derive(Debug)]
pub(in crate::git) struct Staged {
    folder: Temporary,
    packs: usize,
    /// How much there is in loose objects that are large although they are compressed.
    large_bytes: u64,
}

impl Staged {
    pub(in crate::git) fn dir(&self) -> &Path {
        self.folder.path()
    }

    /// Whether there are packs. Git looks into packs first, so a forged index could hide objects of ours.
    pub(super) const fn has_packs(&self) -> bool {
        self.packs > 0
    }

    /// How well to compress what is packed: data that stays large is mostly of a kind that does not compress, and trying
    /// takes five times as long as all the rest.
    pub(super) const fn compression(&self) -> &'static str {
        if self.large_bytes > LARGE_BYTES { "pack.compression=0" } else { "pack.compression=1" }
    }
}

/// Stages the objects of the git directory `common` in a new folder inside of `into`.
pub(super) fn stage(common: &Folder, into: &Path) -> Result<Staged, ForeignError> {
    let objects = common
        .enter("objects")?
        .ok_or_else(|| Unreadable::new(&common.path().join("objects"), "it does not exist"))?;
    let mut staging = Staging {
        folder: Temporary::new(into, "staged")?,
        files_left: MAX_FILES,
        bytes_left: MAX_BYTES,
        large_bytes: 0,
    };
    let mut packs = 0;
    for entry in objects.entries(MAX_FILES)?.iter().filter(|entry| entry.kind == EntryKind::Folder) {
        match entry.name.to_str() {
            Some("pack") => packs = staging.packs(&objects)?,
            Some(name) if name.len() == 2 && is_hex(&entry.name) => staging.loose(&objects, name)?,
            _ => {}
        }
    }
    Ok(Staged { folder: staging.folder, packs, large_bytes: staging.large_bytes })
}

struct Staging {
    folder: Temporary,
    files_left: usize,
    bytes_left: u64,
    large_bytes: u64,
}

impl Staging {
    /// The files of one folder of loose objects.
    fn loose(&mut self, objects: &Folder, name: &str) -> Result<(), ForeignError> {
        let Some((theirs, entries)) = self.list(objects, name)? else { return Ok(()) };
        let mut files = entries.iter().filter(|entry| is_loose(entry)).peekable();
        if files.peek().is_none() {
            return Ok(());
        }
        let ours = self.make(name)?;
        files.try_for_each(|entry| {
            let size = self.bring(&theirs, &ours, &entry.name)?;
            let large = size.filter(|size| *size >= LARGE).unwrap_or_default();
            // Files with holes can claim any size.
            self.large_bytes = self.large_bytes.saturating_add(large);
            Ok(())
        })
    }

    /// Packs that have an index; a pack without one is not finished. Returns how many there are.
    fn packs(&mut self, objects: &Folder) -> Result<usize, ForeignError> {
        let Some((theirs, entries)) = self.list(objects, "pack")? else { return Ok(0) };
        let ours = self.make("pack")?;
        let mut packs = 0;
        for index in entries.iter().filter_map(index_name) {
            if packs == MAX_PACKS {
                return Err(
                    Unreadable::new(theirs.path(), &format!("it has more than {MAX_PACKS} packs")).into()
                );
            }
            let pack = Path::new(index).with_extension("pack").into_os_string();
            if self.bring(&theirs, &ours, &pack)?.is_some() && self.bring(&theirs, &ours, index)?.is_some() {
                packs += 1;
            }
        }
        Ok(packs)
    }

    /// A folder of objects and its entries; `None` if it is gone by now.
    fn list(
        &mut self,
        objects: &Folder,
        name: &str,
    ) -> Result<Option<(Folder, Vec<FolderEntry>)>, Unreadable> {
        let Some(folder) = objects.enter(name)? else { return Ok(None) };
        let entries = folder.entries(self.files_left)?;
        self.files_left -= entries.len();
        Ok(Some((folder, entries)))
    }

    fn make(&self, name: &str) -> Result<OwnedFd, GitError> {
        let path = self.folder.inner(name)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        open(&path, flags, Mode::empty()).map_err(|errno| GitError::io(&path)(errno.into()))
    }

    /// Brings one file and returns its size; `None` if it is gone, or is not a regular file.
    fn bring(&mut self, theirs: &Folder, ours: &OwnedFd, name: &OsStr) -> Result<Option<u64>, ForeignError> {
        match linkat(theirs.handle(), name, ours, name, AtFlags::empty()) {
            Ok(()) => keep_regular(ours, name).map_err(|errno| self.failed(name, errno)),
            Err(Errno::NOENT) => Ok(None),
            // Another file system, one without links, too many links, or a file of another user.
            Err(Errno::XDEV | Errno::PERM | Errno::NOTSUP | Errno::MLINK | Errno::ACCESS | Errno::NOSYS) => {
                self.copy(theirs, ours, name)
            }
            Err(errno) => Err(self.failed(name, errno)),
        }
    }

    fn copy(&mut self, theirs: &Folder, ours: &OwnedFd, name: &OsStr) -> Result<Option<u64>, ForeignError> {
        if theirs.kind(name)? != Some(EntryKind::File) {
            return Ok(None);
        }
        let Some(source) = theirs.file(name)? else { return Ok(None) };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let mut file = File::from(openat(ours, name, flags, mode).map_err(|errno| self.failed(name, errno))?);
        let path = theirs.path().join(name);
        let copied = io::copy(&mut source.take(self.bytes_left + 1), &mut file);
        let copied = copied.map_err(GitError::io(self.folder.path()))?;
        let Some(left) = self.bytes_left.checked_sub(copied) else {
            return Err(Unreadable::new(&path, "its repository is too large to be copied").into());
        };
        self.bytes_left = left;
        Ok(Some(copied))
    }

    fn failed(&self, name: &OsStr, errno: Errno) -> ForeignError {
        GitError::io(&self.folder.path().join(name))(errno.into()).into()
    }
}

/// The size of what was linked. Removes it if it is not a regular file: it may have been swapped after it was listed.
fn keep_regular(ours: &OwnedFd, name: &OsStr) -> Result<Option<u64>, Errno> {
    let found = statat(ours, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(found.st_mode).is_file() {
        return Ok(u64::try_from(found.st_size).ok());
    }
    unlinkat(ours, name, AtFlags::empty()).map(|()| None)
}

fn is_loose(entry: &FolderEntry) -> bool {
    entry.kind == EntryKind::File && matches!(entry.name.len(), 38 | 62) && is_hex(&entry.name)
}

/// The name of an index such as git gives it.
fn index_name(entry: &FolderEntry) -> Option<&OsString> {
    let id = entry.name.to_str()?.strip_prefix("pack-")?.strip_suffix(".idx")?;
    let is_index = entry.kind == EntryKind::File && matches!(id.len(), 40 | 64) && is_hex(OsStr::new(id));
    is_index.then_some(&entry.name)
}

fn is_hex(name: &OsStr) -> bool {
    name.as_encoded_bytes().iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Copies a file of at most `limit` bytes, with its time.
pub(super) fn copy_bounded(
    theirs: File,
    to: &ScratchFile,
    limit: u64,
    path: &Path,
) -> Result<(), ForeignError> {
    let because = |error: io::Error| Unreadable::because(path, &error);
    let too_large = || Unreadable::new(path, &format!("it has more than {limit} bytes"));
    let metadata = theirs.metadata().map_err(because)?;
    let modified = metadata.modified().map_err(because)?;
    if metadata.len() > limit {
        return Err(too_large().into());
    }
    let mut file = to.create()?;
    let copied = io::copy(&mut theirs.take(limit + 1), &mut file).map_err(GitError::io(to.path()))?;
    // It may have grown.
    if copied > limit {
        return Err(too_large().into());
    }
    file.set_modified(modified).map_err(GitError::io(to.path()))?;
    Ok(())
}
