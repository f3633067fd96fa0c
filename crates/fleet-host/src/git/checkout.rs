//! A checkout whose parts are known, so that git never has to search for them.

use std::fs;
use std::path::{Path, PathBuf};

use super::discover::DiscoverError;
use super::error::GitError;
use super::gitdir::{GitDir, look};

/// A work tree and the git directory that belongs to it.
///
/// Commands about a checkout name all of it. So they work while an agent has deleted or replaced the `.git` in it,
/// and can never reach a repository above.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    pub work_tree: PathBuf,
    /// Where `HEAD` and the index of this checkout are.
    pub git_dir: PathBuf,
    /// Where the objects and branches are.
    pub common_dir: PathBuf,
}

impl Checkout {
    pub fn at(work_tree: &Path) -> Result<Self, GitError> {
        let refused = |why: &str| GitError::NotACheckout { path: work_tree.to_owned(), why: why.to_owned() };
        let dot_git = work_tree.join(".git");
        let broken = |error: DiscoverError| refused(&error.to_string());
        let git_dir = match look(&dot_git, fs::metadata).map_err(broken)? {
            Some(metadata) if metadata.is_file() => GitDir::follow(&dot_git).map_err(broken)?,
            Some(metadata) if metadata.is_dir() => GitDir::open(&dot_git)
                .map_err(broken)?
                .ok_or_else(|| refused("its .git is not a git directory"))?,
            _ => return Err(refused("it has no .git")),
        };
        Ok(Self { work_tree: work_tree.to_owned(), git_dir: git_dir.own, common_dir: git_dir.common })
    }
}
