//! The paths that are to be read, and how.

use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::io::{BufWriter, Write as _};

use super::SkippedWhy;
use super::index::ScratchFile;
use super::walk::{Survey, folders_above};
use crate::git::checkout::Checkout;
use crate::git::error::GitError;

/// Smaller files are stored together before git reads them, if they are many; larger ones are streamed by git.
pub(super) const LARGE: u64 = 512 << 10;

/// More new files than this are not what an agent wrote, but what one of its tools left, and to store them takes minutes.
pub(super) const MAX_NEW_FILES: u64 = 250_000;

/// More bytes than this take minutes as well, and the room of all of them once more.
const MAX_BYTES: u64 = 8 << 30;

/// How many large files are remembered.
const SAMPLES: usize = 32;

/// Where a file comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileOrigin {
    Tracked,
    New,
}

/// How much more may be added.
#[derive(Debug, Clone, Copy)]
struct RemainingRoom {
    files: u64,
    bytes: u64,
}

impl RemainingRoom {
    fn take(&mut self, bytes: u64) -> Result<u64, SkippedWhy> {
        let files = self.files.checked_sub(1).ok_or(SkippedWhy::TooMany)?;
        let left = self.bytes.checked_sub(bytes).ok_or(SkippedWhy::TooLarge { bytes })?;
        *self = Self { files, bytes: left };
        Ok(bytes)
    }
}

/// A list of paths in a file, as `-z` wants them: there may be millions.
#[derive(Debug)]
pub(super) struct PathList {
    file: ScratchFile,
    out: BufWriter<File>,
    /// Folders with attributes that git must not read.
    unfiltered: HashSet<Vec<u8>>,
    /// Paths that git must add.
    pub(super) count: u64,
    /// Paths to add without asking for attributes.
    pub(super) raw: BTreeSet<Vec<u8>>,
    /// How many of them are small files.
    pub(super) small: u64,
    /// How many bytes are in large files.
    pub(super) large_bytes: u64,
    /// The first of the large files.
    pub(super) large: Vec<Vec<u8>>,
    pub(super) bytes: u64,
    /// For changed files, of which there are never more than a commit has. New ones do not take their place.
    tracked: RemainingRoom,
    new: RemainingRoom,
}

impl PathList {
    pub(super) fn new(checkout: &Checkout, survey: &Survey) -> Result<Self, GitError> {
        let file = ScratchFile::new(&checkout.git_dir, "paths");
        let out = BufWriter::new(file.create()?);
        Ok(Self {
            file,
            out,
            unfiltered: survey.bad_attributes.iter().cloned().collect(),
            count: 0,
            raw: BTreeSet::new(),
            small: 0,
            large_bytes: 0,
            large: Vec::new(),
            bytes: 0,
            tracked: RemainingRoom { files: u64::MAX, bytes: MAX_BYTES },
            new: RemainingRoom { files: MAX_NEW_FILES, bytes: MAX_BYTES },
        })
    }

    /// Whether a file of this size may still be added.
    pub(super) fn take_room(&mut self, origin: FileOrigin, bytes: u64) -> Result<u64, SkippedWhy> {
        match origin {
            FileOrigin::Tracked => self.tracked.take(bytes),
            FileOrigin::New => self.new.take(bytes),
        }
    }

    /// Whether there are as many new files as are taken in, or more.
    pub(super) fn is_overfull(&self) -> bool {
        self.new.files == 0
    }

    /// Adds a path, with the size of its file.
    pub(super) fn push(&mut self, path: &[u8], bytes: u64) -> Result<(), GitError> {
        self.bytes += bytes;
        if self.is_unfiltered(path) {
            self.raw.insert(path.to_vec());
            return Ok(());
        }
        self.count += 1;
        if bytes >= LARGE {
            self.large_bytes += bytes;
            if self.large.len() < SAMPLES {
                self.large.push(path.to_vec());
            }
        } else {
            self.small += 1;
        }
        self.out
            .write_all(path)
            .and_then(|()| self.out.write_all(&[0]))
            .map_err(GitError::io(self.file.path()))
    }

    /// Whether there are attributes for this path that git must not read.
    pub(super) fn is_unfiltered(&self, path: &[u8]) -> bool {
        !self.unfiltered.is_empty()
            && folders_above(path).skip(1).any(|folder| self.unfiltered.contains(folder))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0 && self.raw.is_empty()
    }

    pub(super) fn open(&mut self) -> Result<File, GitError> {
        self.out.flush().map_err(GitError::io(self.file.path()))?;
        self.file.open()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_takes_no_room() {
        let mut room = RemainingRoom { files: 2, bytes: 10 };
        assert_eq!(room.take(11), Err(SkippedWhy::TooLarge { bytes: 11 }));
        assert_eq!((room.take(10), room.take(0)), (Ok(10), Ok(0)));
        assert_eq!(room.take(0), Err(SkippedWhy::TooMany));
    }
}
