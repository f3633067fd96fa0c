//! Keeping a commit that is about to lose its branch.

use std::path::Path;

use super::message::Facts;
use super::{check_run, commit_tree, keep, stored};
use crate::git::checkout::Checkout;
use crate::git::error::GitError;
use crate::git::oid::Oid;
use crate::git::refs;

/// Which commit to keep.
#[derive(Debug, Clone, Copy)]
pub struct KeepCommit<'a> {
    /// The git common directory.
    pub repo: &'a Path,
    /// The run that it is kept under.
    pub run: &'a str,
    /// The commit.
    pub commit: &'a Oid,
    /// Why, in a few words.
    pub why: &'a str,
    /// When, in seconds since 1970.
    pub at_seconds: i64,
}

/// Keeps a commit among the snapshots of a run, as a snapshot of a work tree that has nothing but that commit. The name
/// of its ref, which may be an older one of the same content.
pub fn keep_commit(wish: &KeepCommit<'_>) -> Result<String, GitError> {
    check_run(wish.run)?;
    let tree = refs::tree_of(wish.repo, wish.commit)?;
    let facts = Facts {
        run: wish.run.to_owned(),
        why: wish.why.to_owned(),
        at_seconds: wish.at_seconds,
        head: Some(wish.commit.clone()),
        staged: None,
        nested: None,
    };
    let last = stored::last(wish.repo, wish.run)?;
    if let Some(last) = &last
        && last.tree == tree
        && last.facts.same_content(&facts)
    {
        return Ok(last.ref_name.clone());
    }
    // Writing a commit needs no files, so the repository stands in for the checkout.
    let repo = wish.repo.to_owned();
    let checkout = Checkout { work_tree: repo.clone(), git_dir: repo.clone(), common_dir: repo };
    let commit = commit_tree(&checkout, (&tree, &[wish.commit]), &facts.to_message(), wish.at_seconds)?;
    keep(&checkout, wish.run, last.map_or(1, |last| last.number.saturating_add(1)), &commit)
}
