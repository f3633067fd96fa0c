//! Paths into an index of ours.

use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::{ffi::OsStr, fs::File};

use super::index::Scratch;
use super::{Purpose, Skipped, SkippedWhy, Skips};
use crate::git::checkout::Checkout;
use crate::git::command::Git;
use crate::git::error::GitError;

/// How often git may refuse a single path before the rest of a list is given up: each refusal costs several
/// processes, and a filter that is missing refuses every file.
const REFUSALS: usize = 500;

/// Where paths are added.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) checkout: &'a Checkout,
    pub(super) index: &'a Scratch,
    pub(super) purpose: Purpose,
}

/// Adds, updates and removes the listed paths, whatever is there now.
///
/// Git does all or nothing. When it refuses, the list is halved until what it refuses stands alone, which needs no
/// reading of its messages.
pub(super) fn add(target: &Target<'_>, paths: &Scratch, skips: &mut Skips) -> Result<(), GitError> {
    if update(target, paths.open()?)? {
        return Ok(());
    }
    let mut list = Vec::new();
    paths.open()?.read_to_end(&mut list).map_err(GitError::io(paths.path()))?;
    let paths: Vec<&[u8]> = list.split(|byte| *byte == 0).filter(|path| !path.is_empty()).collect();
    let mut open: Vec<&[&[u8]]> = vec![&paths];
    let mut refusals = 0;
    while let Some(part) = open.pop() {
        let refuse = refusals >= REFUSALS;
        if !refuse && update(target, target.list(part)?.1)? {
            continue;
        }
        match part {
            _ if refuse => part.iter().for_each(|path| skips.add(rejected(path))),
            [] => {}
            [path] => {
                refusals += 1;
                if target.purpose == Purpose::Commit || !add_raw(target, path)? {
                    skips.add(rejected(path));
                }
            }
            _ => {
                let (first, second) = part.split_at(part.len() / 2);
                open.extend([second, first]);
            }
        }
    }
    Ok(())
}

fn rejected(path: &[u8]) -> Skipped {
    Skipped { path: path.to_vec(), why: SkippedWhy::Rejected }
}

impl Target<'_> {
    fn git(&self) -> Git {
        self.purpose.git(self.checkout, self.index)
    }

    /// A list of paths in a file. The file has no name any more when this returns, only the open end.
    fn list(&self, paths: &[impl AsRef<[u8]>]) -> Result<(Scratch, File), GitError> {
        let mut content = Vec::new();
        for path in paths {
            content.extend_from_slice(path.as_ref());
            content.push(0);
        }
        Scratch::new(&self.checkout.git_dir, "part").with(&content)
    }
}

fn update(target: &Target<'_>, paths: File) -> Result<bool, GitError> {
    let answer = target
        .git()
        .args(["update-index", "--add", "--remove", "--replace", "-z", "--stdin"])
        .stdin(paths)
        .answer()?;
    Ok(answer.code == Some(0))
}

/// Adds a file as it is, without the filters that its attributes ask for. Bytes that were read and cannot be stored are
/// an error, not a refusal: the disk is full or the repository is damaged, and whoever took the rest for all would lose
/// the file.
fn add_raw(target: &Target<'_>, path: &[u8]) -> Result<bool, GitError> {
    let place = target.checkout.work_tree.join(OsStr::from_bytes(path));
    let Ok(metadata) = fs::symlink_metadata(&place) else { return Ok(false) };
    if !metadata.is_file() {
        return Ok(false);
    }
    let Ok(file) = File::open(&place) else { return Ok(false) };
    let hash = target.git().args(["hash-object", "-w", "--no-filters", "--stdin"]).stdin(file).answer()?;
    if hash.code != Some(0) {
        return Err(hash.failure());
    }
    let mode = if metadata.permissions().mode() & 0o100 == 0 { "100644" } else { "100755" };
    let mut entry = format!("{mode},{},", hash.oid()?).into_bytes();
    entry.extend_from_slice(path);
    let answer = target
        .git()
        .args(["update-index", "--add", "--replace", "--cacheinfo"])
        .arg(OsStr::from_bytes(&entry))
        .answer()?;
    Ok(answer.code == Some(0))
}

/// Takes paths out of the index.
pub(super) fn forget(checkout: &Checkout, index: &Scratch, paths: &[Vec<u8>]) -> Result<(), GitError> {
    change(checkout, index, paths, "--force-remove")
}

/// Clears the flags with which a file can be hidden from git.
pub(super) fn unhide(checkout: &Checkout, index: &Scratch, paths: &[Vec<u8>]) -> Result<(), GitError> {
    change(checkout, index, paths, "--no-assume-unchanged")?;
    change(checkout, index, paths, "--no-skip-worktree")
}

fn change(checkout: &Checkout, index: &Scratch, paths: &[Vec<u8>], option: &str) -> Result<(), GitError> {
    if paths.is_empty() {
        return Ok(());
    }
    // For either purpose.
    let target = Target { checkout, index, purpose: Purpose::Commit };
    let (_list, file) = target.list(paths)?;
    target.git().args(["update-index", option, "-z", "--stdin"]).stdin(file).run()
}
