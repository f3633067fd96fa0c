//! Opens folders and files that a hostile process may swap at any moment, so that no link leads outside and nothing
//! blocks.
//!
//! Owns the three rules of this module: no link is followed at any step, only regular files are read, and never more of
//! them than the caller allows. Folders are held open and entered one name at a time, so that a folder that is replaced
//! by a link in between changes nothing.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, open, openat, statat};
use rustix::io::Errno;

use super::Unreadable;

/// An open folder, and what to call it in messages.
#[derive(Debug)]
pub(super) struct Folder {
    handle: OwnedFd,
    path: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    Folder,
    File,
    /// A link, a pipe, a socket, a device.
    Other,
}

#[derive(Debug)]
pub(super) struct FolderEntry {
    pub(super) name: OsString,
    pub(super) kind: EntryKind,
}

impl Folder {
    /// A folder whose path was chosen by us; only what is below it is hostile.
    pub(super) fn root(path: &Path) -> Result<Self, Unreadable> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match open(path, flags, Mode::empty()) {
            Ok(handle) => Ok(Self { handle, path: path.to_owned() }),
            Err(errno) => Err(Unreadable::because(path, &io::Error::from(errno))),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn handle(&self) -> &OwnedFd {
        &self.handle
    }

    /// The folder of this name; `None` if there is nothing of this name.
    pub(super) fn enter(&self, name: impl AsRef<OsStr>) -> Result<Option<Self>, Unreadable> {
        let (name, path) = (name.as_ref(), self.path.join(name.as_ref()));
        let flags =
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match openat(&self.handle, name, flags, Mode::empty()) {
            Ok(handle) => Ok(Some(Self { handle, path })),
            Err(Errno::NOENT) => Ok(None),
            Err(Errno::NOTDIR | Errno::LOOP | Errno::MLINK) => {
                Err(Unreadable::new(&path, "it is not a folder"))
            }
            Err(errno) => Err(Unreadable::because(&path, &io::Error::from(errno))),
        }
    }

    /// The folder at the end of a relative path of plain names, which must exist.
    pub(super) fn descend(&self, below: &Path) -> Result<Self, Unreadable> {
        let handle = self.handle.try_clone().map_err(|error| Unreadable::because(&self.path, &error))?;
        let mut folder = Self { handle, path: self.path.clone() };
        for part in below.components() {
            folder = match part {
                Component::CurDir => continue,
                Component::Normal(name) => folder
                    .enter(name)?
                    .ok_or_else(|| Unreadable::new(&folder.path.join(name), "it does not exist"))?,
                _ => return Err(Unreadable::new(&self.path.join(below), "it is outside of the work tree")),
            };
        }
        Ok(folder)
    }

    pub(super) fn kind(&self, name: impl AsRef<OsStr>) -> Result<Option<EntryKind>, Unreadable> {
        let name = name.as_ref();
        match statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(EntryKind::of(FileType::from_raw_mode(found.st_mode)))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(Unreadable::because(&self.path.join(name), &io::Error::from(errno))),
        }
    }

    /// The regular file of this name, to be read; `None` if there is nothing of this name.
    pub(super) fn file(&self, name: impl AsRef<OsStr>) -> Result<Option<File>, Unreadable> {
        let (name, path) = (name.as_ref(), self.path.join(name.as_ref()));
        let because = |error: &io::Error| Unreadable::because(&path, error);
        // Without waiting, in case it is a pipe.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match openat(&self.handle, name, flags, Mode::empty()) {
            Ok(handle) => File::from(handle),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::MLINK) => return Err(Unreadable::new(&path, "it is a link")),
            Err(errno) => return Err(because(&io::Error::from(errno))),
        };
        if !file.metadata().map_err(|error| because(&error))?.is_file() {
            return Err(Unreadable::new(&path, "it is not a regular file"));
        }
        Ok(Some(file))
    }

    /// The whole content of a regular file of at most `limit` bytes; `None` if there is nothing of this name.
    pub(super) fn read(&self, name: impl AsRef<OsStr>, limit: u64) -> Result<Option<Vec<u8>>, Unreadable> {
        let Some(file) = self.file(name.as_ref())? else { return Ok(None) };
        let path = self.path.join(name.as_ref());
        let mut content = Vec::new();
        // One byte more than allowed tells a file that is too large, whatever its length was a moment ago.
        let read = file.take(limit + 1).read_to_end(&mut content);
        read.map_err(|error| Unreadable::because(&path, &error))?;
        if content.len() as u64 > limit {
            return Err(Unreadable::new(&path, &format!("it has more than {limit} bytes")));
        }
        Ok(Some(content))
    }

    /// The last bytes of a regular file from the start of a line on; `None` if there is nothing of this name.
    pub(super) fn read_end(
        &self,
        name: impl AsRef<OsStr>,
        limit: u64,
    ) -> Result<Option<Vec<u8>>, Unreadable> {
        let Some(mut file) = self.file(name.as_ref())? else { return Ok(None) };
        let mut content = Vec::new();
        let read = (|| {
            let start = file.metadata()?.len().saturating_sub(limit);
            file.seek(SeekFrom::Start(start))?;
            file.take(limit).read_to_end(&mut content)?;
            Ok(start)
        })();
        let start = read.map_err(|error| Unreadable::because(&self.path.join(name.as_ref()), &error))?;
        if start > 0 {
            let first_line =
                content.iter().position(|byte| *byte == b'\n').map_or(content.len(), |at| at + 1);
            content.drain(..first_line);
        }
        Ok(Some(content))
    }

    /// All names in the folder, at most `limit`, in order.
    pub(super) fn entries(&self, limit: usize) -> Result<Vec<FolderEntry>, Unreadable> {
        let because = |errno: Errno| Unreadable::because(&self.path, &io::Error::from(errno));
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.handle).map_err(because)? {
            let entry = entry.map_err(because)?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            if entries.len() == limit {
                return Err(Unreadable::new(&self.path, &format!("it has more than {limit} entries")));
            }
            let Some(kind) = self.kind_of(name, entry.file_type())? else { continue };
            entries.push(FolderEntry { name: name.to_owned(), kind });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// Not every file system says what kind its entries are.
    fn kind_of(&self, name: &OsStr, said: FileType) -> Result<Option<EntryKind>, Unreadable> {
        if said == FileType::Unknown { self.kind(name) } else { Ok(Some(EntryKind::of(said))) }
    }
}

impl EntryKind {
    const fn of(kind: FileType) -> Self {
        match kind {
            FileType::Directory => Self::Folder,
            FileType::RegularFile => Self::File,
            _ => Self::Other,
        }
    }
}
