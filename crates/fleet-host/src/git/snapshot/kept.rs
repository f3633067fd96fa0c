//! Keeping a commit that is about to lose its branch.

use std::path::Path;

use super::message::Facts;
use super::{check_run, commit_tree, keep, stored};
use crate::git::checkout::Checkout;
use crate::git::error::GitError;
use crate::git::foreign::{Take, TakeError, take};
use crate::git::oid::Oid;
use crate::git::refs;
use crate::git::vault::{Vault, beginnings, users_tips};

/// Which commit to keep.
#[derive(Debug, Clone, Copy)]
pub struct KeepCommit<'a> {
    /// The git common directory of the user's repository, which has the commit.
    pub repo: &'a Path,
    /// Our own git directory, which is to have it.
    pub vault: &'a Path,
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
    let vault = Vault::of(wish.repo, wish.vault)?;
    let known = hold_beginnings(&vault, wish.commit)?;
    import(wish.vault, wish.commit, &known)?;
    let tree = refs::tree_of(wish.vault, wish.commit)?;
    let facts = Facts {
        run: wish.run.to_owned(),
        why: wish.why.to_owned(),
        at_seconds: wish.at_seconds,
        head: Some(wish.commit.clone()),
        staged: None,
        nested: None,
    };
    let last = stored::last(wish.vault, wish.run)?;
    if let Some(last) = &last
        && last.tree == tree
        && last.facts.same_content(&facts)
    {
        return Ok(last.ref_name.clone());
    }
    // Writing a commit needs no files, so the git directory stands in for the checkout.
    let repo = wish.vault.to_owned();
    let checkout = Checkout { work_tree: repo.clone(), git_dir: repo.clone(), common_dir: repo };
    let commit = commit_tree(&checkout, (&tree, &[wish.commit]), &facts.to_message(), wish.at_seconds)?;
    let name = keep(&checkout, wish.run, last.map_or(1, |last| last.number.saturating_add(1)), &commit)?;
    // Once more: somebody who gives up what nobody needs may not have seen the ref.
    known.iter().try_for_each(|commit| vault.hold(commit))?;
    Ok(name)
}

/// Holds the commits at which a history leaves what the user's repository keeps in any case. A ref at the commit itself
/// does not count: it is about to go.
fn hold_beginnings(vault: &Vault, commit: &Oid) -> Result<Vec<Oid>, GitError> {
    let mut others = users_tips(vault)?;
    others.extend(vault.holds()?.all()?);
    others.remove(commit);
    let found = beginnings(vault, std::slice::from_ref(commit), &others)?;
    found.iter().try_for_each(|commit| vault.hold(commit))?;
    Ok(found)
}

/// Gives the vault a copy of a commit and all that it reaches, apart from what is held for it.
pub(in crate::git) fn import(vault: &Path, commit: &Oid, known: &[Oid]) -> Result<(), GitError> {
    let tips = std::slice::from_ref(commit);
    take(vault, &Take { staged: None, tips, known }).map_err(|error| match error {
        TakeError::Refused { why } => GitError::Refused(format!("commit {commit} cannot be kept: {why}")),
        TakeError::Git(error) => error,
    })
}
