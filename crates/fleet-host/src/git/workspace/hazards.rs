//! What git must not see in a workspace between runs.
//!
//! Owns which repositories and files of patterns an agent left there may stay: git opens a repository wherever its index
//! or a commit has something at or below the place, and runs what the settings of that repository name.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::{Area, KeepFiles, WorkspaceError};
use crate::git::capture::Survey;
use crate::git::checkout::Checkout;
use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::gitdir::is_absence;

/// More files and folders than this take longer to be removed than a workspace takes to be made.
const SLOW_REMOVAL: u64 = 20_000;

/// Moves hazards away, apart from repositories among ignored files that stay: there git looks at nothing else. False if a
/// folder is closed, or if there is so much to be removed that a new workspace is made sooner.
pub(super) fn remove(area: &Area, checkout: &Checkout) -> Result<bool, WorkspaceError> {
    let root = &checkout.work_tree;
    let survey = Survey::of(root)?;
    if is_bulky(area.keep, checkout, &survey) {
        return Ok(false);
    }
    let kept = harmless(area.keep, checkout, &survey, &["HEAD"])?;
    for path in survey.hazards().filter(|path| !kept.contains(path)) {
        area.move_aside(&root.join(OsStr::from_bytes(&path)))?;
    }
    Ok(survey.closed.is_empty())
}

/// Whether git can go from `HEAD` to a commit and look at all files without seeing a hazard.
pub(super) fn has_none(keep: KeepFiles, checkout: &Checkout, commit: &str) -> Result<bool, GitError> {
    let survey = match Survey::of(&checkout.work_tree) {
        Err(GitError::TooManyFiles { .. }) => return Ok(false),
        survey => survey?,
    };
    let kept = harmless(keep, checkout, &survey, &["HEAD", commit])?;
    Ok(survey.closed.is_empty() && survey.hazards().all(|path| kept.contains(&path)))
}

/// Whether most of a workspace is not from a commit, and too much to be removed on the way of a user.
fn is_bulky(keep: KeepFiles, checkout: &Checkout, survey: &Survey) -> bool {
    let tracked = || index_entries(&checkout.git_dir.join("index")).unwrap_or(0);
    // There may be a folder for every file.
    keep == KeepFiles::Nothing
        && survey.entries > SLOW_REMOVAL
        && survey.entries > SLOW_REMOVAL + 2 * tracked()
}

/// How many files an index has, by its header.
fn index_entries(index: &Path) -> Option<u64> {
    let mut header = [0; 12];
    fs::File::open(index).ok()?.read_exact(&mut header).ok()?;
    let count = header.last_chunk::<4>().filter(|_| header.starts_with(b"DIRC"))?;
    Some(u32::from_be_bytes(*count).into())
}

/// The repositories that are ignored and have nothing to do with what the index or one of the commits tracks.
fn harmless(
    keep: KeepFiles,
    checkout: &Checkout,
    survey: &Survey,
    commits: &[&str],
) -> Result<HashSet<Vec<u8>>, GitError> {
    if survey.is_plain() || keep == KeepFiles::Nothing {
        return Ok(HashSet::new());
    }
    let mut kept = survey.ignored(checkout)?;
    for path in &survey.repositories {
        if !is_quiet(&checkout.work_tree.join(OsStr::from_bytes(path))) {
            drop_related(&mut kept, path);
        }
    }
    let lists =
        commits.iter().map(|commit| vec!["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit]);
    for list in lists.chain([vec!["ls-files", "-z"]]) {
        if kept.is_empty() {
            break;
        }
        let listed = Git::within(checkout).args(list).records(&mut |tracked| {
            drop_related(&mut kept, tracked);
            Ok(())
        });
        match listed {
            // What is tracked cannot be known, so everything may be.
            Err(GitError::Failed { .. }) => kept.clear(),
            listed => listed?,
        }
    }
    Ok(kept)
}

/// Whether git can find out that this is a repository without waiting. `git clean` asks every folder, ignored or not, and
/// reads `.git` if that is a file, `HEAD` and `commondir`.
fn is_quiet(repository: &Path) -> bool {
    let git_dir = repository.join(".git");
    let kind = |path: &Path| fs::symlink_metadata(path).map(|found| found.file_type());
    let is_folder = kind(&git_dir).is_ok_and(|kind| kind.is_dir());
    let has_plain_head = match kind(&git_dir.join("HEAD")) {
        Ok(kind) => kind.is_file(),
        Err(error) => is_absence(&error),
    };
    is_folder && has_plain_head && kind(&git_dir.join("commondir")).is_err_and(|error| is_absence(&error))
}

/// Drops the folders that are a tracked path, above one or below one.
fn drop_related(folders: &mut HashSet<Vec<u8>>, tracked: &[u8]) {
    let is_within = |path: &[u8], folder: &[u8]| {
        path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    };
    folders.retain(|folder| !is_within(tracked, folder) && !is_within(folder, tracked));
}

#[cfg(test)]
mod tests {
    use fleet_testkit::repo::Repo;

    use super::*;

    #[test]
    fn what_is_not_from_a_commit_may_be_too_much_to_be_removed() {
        let repo = Repo::init();
        fs::write(repo.path().join("file"), "x").unwrap();
        repo.git(&["add", "-A"]);
        let git_dir = repo.path().join(".git");
        let work_tree = repo.path().to_owned();
        let checkout = Checkout { work_tree, git_dir: git_dir.clone(), common_dir: git_dir.clone() };
        let tracked = index_entries(&git_dir.join("index")).unwrap();
        assert_eq!(tracked, repo.git(&["ls-files"]).lines().count() as u64);
        let is_bulky = |keep, entries| {
            let mut survey = Survey::default();
            survey.entries = entries;
            is_bulky(keep, &checkout, &survey)
        };
        let most = SLOW_REMOVAL + 2 * tracked;
        assert!(!is_bulky(KeepFiles::Nothing, most) && is_bulky(KeepFiles::Nothing, most + 1));
        assert!(!is_bulky(KeepFiles::Ignored, most + 1), "they are there to stay");
    }

    #[test]
    fn only_folders_apart_from_what_is_tracked_stay() {
        let all = ["a", "b/c", "d/e/f", "g"].map(|name| name.as_bytes().to_vec());
        let mut folders = HashSet::from(all);
        for tracked in ["a", "b/c/file", "d/e", "gg", "g-/x"] {
            drop_related(&mut folders, tracked.as_bytes());
        }
        assert_eq!(folders, HashSet::from([b"g".to_vec()]));
    }
}
