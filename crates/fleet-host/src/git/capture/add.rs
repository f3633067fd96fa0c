//! Paths into an index of ours.

use std::fs::File;
use std::io::Read as _;

use super::guard::IndexEntry;
use super::index::ScratchFile;
use super::paths::PathList;
use super::{CapturePurpose, store};
use crate::git::checkout::Checkout;
use crate::git::command::Git;
use crate::git::error::GitError;

/// How often git may refuse a single path before the rest of a list is given up: each refusal costs several
/// processes, and a filter that is missing refuses every file.
const REFUSALS: usize = 500;

/// From how many bytes in large files on it pays to look whether they can be compressed.
const BULK_BYTES: u64 = 8 << 20;

/// From how many paths on it pays to make them durable at once.
const BULK_PATHS: u64 = 16;

#[derive(Debug, Clone, Copy)]
pub(super) struct AddTarget<'a> {
    pub(super) checkout: &'a Checkout,
    pub(super) index: &'a ScratchFile,
    pub(super) purpose: CapturePurpose,
    bulk: Bulk,
}

/// How git stores the files that it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bulk {
    /// Each file is made durable on its own.
    No,
    /// All files are made durable at once.
    Compressed,
    /// The same without trying to compress them, which takes most of the time and is for nothing with noise.
    Stored,
}

impl Bulk {
    fn of(checkout: &Checkout, paths: &PathList) -> Self {
        if paths.large_bytes < BULK_BYTES {
            return if paths.count < BULK_PATHS { Self::No } else { Self::Compressed };
        }
        if store::can_be_compressed(checkout, &paths.large) { Self::Compressed } else { Self::Stored }
    }

    fn set(self, git: Git) -> Git {
        let level = match self {
            Self::No => return git,
            Self::Compressed => 1,
            Self::Stored => 0,
        };
        let git = git.setting("core.fsyncMethod=batch").setting(&format!("pack.compression={level}"));
        git.setting(&format!("core.looseCompression={level}"))
    }
}

/// Adds, updates and removes the listed paths, whatever is there now.
///
/// Git does all or nothing. When it refuses, the list is halved until what it refuses stands alone, which needs no
/// reading of its messages.
pub(super) fn add(target: &AddTarget<'_>, paths: &mut PathList) -> Result<Added, GitError> {
    if paths.small >= store::MANY_FILES {
        store::store_small(target.checkout, paths.open()?)?;
    }
    let mut added = Added::default();
    if paths.count > 0 {
        let target = AddTarget { bulk: Bulk::of(target.checkout, paths), ..*target };
        added.is_dense = target.bulk == Bulk::Stored;
        add_filtered(&target, paths, &mut added)?;
    }
    let raw: Vec<_> = std::mem::take(&mut paths.raw).into_iter().collect();
    added.refused.extend(add_raw(target, raw)?);
    Ok(added)
}

#[derive(Debug, Default)]
pub(super) struct Added {
    /// The paths that git did not add, but could as they are.
    pub(super) refused: Vec<Vec<u8>>,
    /// The paths that can be in no tree, because git takes them for its own: `.GIT/x`, for instance.
    pub(super) impossible: Vec<Vec<u8>>,
    /// Whether it added much that cannot be compressed.
    pub(super) is_dense: bool,
}

fn add_filtered(target: &AddTarget<'_>, paths: &mut PathList, added: &mut Added) -> Result<(), GitError> {
    if update(target, paths.open()?)? == Updated::All {
        return Ok(());
    }
    let mut list = Vec::new();
    paths.open()?.read_to_end(&mut list).map_err(GitError::Write)?;
    let paths: Vec<&[u8]> = list.split(|byte| *byte == 0).filter(|path| !path.is_empty()).collect();
    let mut open: Vec<&[&[u8]]> = vec![&paths];
    while let Some(part) = open.pop() {
        if added.refused.len() + added.impossible.len() >= REFUSALS {
            // Where some are impossible, others may be, too.
            let rest = if added.impossible.is_empty() { &mut added.refused } else { &mut added.impossible };
            rest.extend(part.iter().map(|path| path.to_vec()));
            continue;
        }
        match (update(target, target.list(part)?.1)?, part) {
            (Updated::All, _) | (_, []) => {}
            (Updated::Some, [path]) => added.impossible.push(path.to_vec()),
            (Updated::None, [path]) => added.refused.push(path.to_vec()),
            _ => {
                let (first, second) = part.split_at(part.len() / 2);
                open.extend([second, first]);
            }
        }
    }
    Ok(())
}

impl<'a> AddTarget<'a> {
    pub(super) fn new(checkout: &'a Checkout, index: &'a ScratchFile, purpose: CapturePurpose) -> Self {
        Self { checkout, index, purpose, bulk: Bulk::No }
    }

    pub(super) fn git(&self) -> Git {
        self.purpose.git(self.checkout, self.index)
    }

    /// A list of paths in a file. The file has no name any more when this returns, only the open end.
    fn list(&self, paths: &[impl AsRef<[u8]>]) -> Result<(ScratchFile, File), GitError> {
        let mut content = Vec::new();
        for path in paths {
            content.extend_from_slice(path.as_ref());
            content.push(0);
        }
        ScratchFile::new(&self.checkout.git_dir, "part").with(&content)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Updated {
    All,
    /// It passed over paths that can be in no tree, and said so.
    Some,
    None,
}

fn update(target: &AddTarget<'_>, paths: File) -> Result<Updated, GitError> {
    let answer = target
        .bulk
        .set(target.git())
        .args(["update-index", "--add", "--remove", "--replace", "-z", "--stdin"])
        .stdin(paths)
        .answer()?;
    Ok(match answer.code {
        Some(0) if answer.stderr.contains("Ignoring path ") => Updated::Some,
        Some(0) => Updated::All,
        _ => Updated::None,
    })
}

/// Adds files as they are, without the filters that their attributes ask for. Returns the paths that cannot be read.
///
/// Bytes that were read and cannot be stored are an error, not a refusal: the disk is full or the repository is
/// damaged, and a caller that went on would lose the file.
pub(super) fn add_raw(target: &AddTarget<'_>, paths: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, GitError> {
    if paths.is_empty() {
        return Ok(paths);
    }
    let (entries, failed) = store::store_raw(target.checkout, paths)?;
    put(target.checkout, target.index, &entries)?;
    Ok(failed)
}

pub(super) fn forget(checkout: &Checkout, index: &ScratchFile, paths: &[Vec<u8>]) -> Result<(), GitError> {
    change(checkout, index, paths, "--force-remove")
}

/// Clears the flags with which a file can be hidden from git.
pub(super) fn unhide(checkout: &Checkout, index: &ScratchFile, paths: &[Vec<u8>]) -> Result<(), GitError> {
    change(checkout, index, paths, "--no-assume-unchanged")?;
    change(checkout, index, paths, "--no-skip-worktree")
}

fn change(checkout: &Checkout, index: &ScratchFile, paths: &[Vec<u8>], option: &str) -> Result<(), GitError> {
    if paths.is_empty() {
        return Ok(());
    }
    // For either purpose.
    let target = AddTarget::new(checkout, index, CapturePurpose::CommitAndKeep);
    let (_list, file) = target.list(paths)?;
    target.git().args(["update-index", option, "-z", "--stdin"]).stdin(file).run()
}

/// Puts entries into the index as they are.
pub(super) fn put(checkout: &Checkout, index: &ScratchFile, entries: &[IndexEntry]) -> Result<(), GitError> {
    if entries.is_empty() {
        return Ok(());
    }
    let mut list = Vec::new();
    for IndexEntry { mode, object, path } in entries {
        list.extend_from_slice(format!("{mode} {object}\t").as_bytes());
        list.extend_from_slice(path);
        list.push(0);
    }
    let (_file, input) = ScratchFile::new(&checkout.git_dir, "part").with(&list)?;
    let git = Git::within(checkout).index(index.path());
    git.args(["update-index", "--add", "--replace", "-z", "--index-info"]).stdin(input).run()
}
