//! Which work tree of a repository needs a branch to stay where it is.
//!
//! Follows `branch_checked_out` of git's `branch.c`: a branch is in use where `HEAD` names it, born or not, and where a
//! rebase or a bisection will return to it. Other than git, a work tree that was simply deleted uses nothing.

use std::fs;
use std::path::{Path, PathBuf};

use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::files;
use crate::git::gitdir::is_absence;
use crate::plain;

/// The work tree that uses a branch, by its full name.
pub(in crate::git) fn place(repo: &Path, name: &str) -> Result<Option<PathBuf>, GitError> {
    if !files::is_checked_out_nowhere(repo, name)
        && let Some(place) = checked_out(repo, name)?
    {
        return Ok(Some(place));
    }
    under_way(repo, name)
}

/// Where `HEAD` names the branch.
fn checked_out(repo: &Path, name: &str) -> Result<Option<PathBuf>, GitError> {
    let (mut worktree, mut is_here, mut found) = (PathBuf::new(), false, None);
    let git = Git::about(repo).args(["worktree", "list", "--porcelain", "-z"]);
    git.records(&mut |record| {
        let (key, value) = split(record);
        match key {
            b"worktree" => (worktree, is_here) = (files::path_of(value), false),
            b"branch" => is_here = value == name.as_bytes(),
            b"prunable" => is_here = false,
            b"" if is_here => found = Some(std::mem::take(&mut worktree)),
            _ => {}
        }
        Ok(())
    })?;
    Ok(found)
}

fn split(record: &[u8]) -> (&[u8], &[u8]) {
    let end = record.iter().position(|byte| *byte == b' ').unwrap_or(record.len());
    (&record[..end], record.get(end + 1..).unwrap_or_default())
}

/// Where a rebase or a bisection that is under way will return to the branch, or update it.
fn under_way(repo: &Path, name: &str) -> Result<Option<PathBuf>, GitError> {
    if returns_to(repo, name)? {
        let is_inside = repo.file_name().is_some_and(|last| last == ".git");
        let place = if is_inside { repo.parent() } else { None };
        return Ok(Some(place.unwrap_or(repo).to_owned()));
    }
    let folder = repo.join("worktrees");
    let entries = match fs::read_dir(&folder) {
        Err(error) if is_absence(&error) => return Ok(None),
        entries => entries.map_err(GitError::io(&folder))?,
    };
    for entry in entries {
        let git_dir = entry.map_err(GitError::io(&folder))?.path();
        if returns_to(&git_dir, name)?
            && let Some(place) = linked_place(&git_dir)?
        {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

fn returns_to(git_dir: &Path, name: &str) -> Result<bool, GitError> {
    let short = name.strip_prefix("refs/heads/").unwrap_or(name);
    // Only the last has more than one line: the names of refs, each followed by two commits.
    for (file, wanted) in [
        ("rebase-merge/head-name", name),
        ("rebase-apply/head-name", name),
        ("BISECT_START", short),
        ("rebase-merge/update-refs", name),
    ] {
        let content = content(&git_dir.join(file))?;
        if content.split(|byte| *byte == b'\n').any(|line| line == wanted.as_bytes()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The work tree of a linked git directory, if it is there or will be again.
fn linked_place(git_dir: &Path) -> Result<Option<PathBuf>, GitError> {
    let pointer = content(&git_dir.join("gitdir"))?;
    let dot_git = git_dir.join(files::path_of(pointer.trim_ascii_end()));
    let is_there = dot_git.exists() || git_dir.join("locked").exists();
    Ok(dot_git.parent().filter(|_| is_there).map(Path::to_owned))
}

/// The content of a file, which need not be there.
fn content(file: &Path) -> Result<Vec<u8>, GitError> {
    match plain::read(file) {
        Err(error) if is_absence(&error) => Ok(Vec::new()),
        content => content.map_err(GitError::io(file)),
    }
}
