//! Snapshots: everything in a work tree, kept under its own ref.
//!
//! Owns the refs below `refs/fleet/snapshots/`. A snapshot is a commit whose tree is the whole work tree (tracked and
//! untracked, not what is ignored). Its parents are `HEAD`, then what was staged if that is yet something else, then
//! what is only inside of nested repositories; its message says which is which. Must never touch the agent's index,
//! `HEAD`, branches or files.

mod kept;
mod message;
mod stored;

use std::path::Path;

use fleet_core::refname::check_ref_name;

use self::message::MessageFacts;
use super::capture::{CapturePurpose, CaptureRequest, Captured, Skips, capture};
use super::checkout::Checkout;
use super::command::Git;
use super::error::GitError;
use super::loose;
use super::oid::Oid;
use super::refs;
use super::vault::complete;

pub use self::kept::{KeepCommits, keep_commit, keep_commits};
pub use self::stored::{StoredSnapshot, drop_snapshots, list_snapshots, restore_branch};

/// Where snapshots are.
pub(in crate::git) const FOLDER: &str = "refs/fleet/snapshots";

/// Whose commits snapshots are: never the user's, whose name is only for their own work.
pub(super) const OUR_NAME: &str = "codefleet";
/// The address to it.
pub(super) const OUR_EMAIL: &str = "codefleet@localhost";

#[derive(Debug, Clone, Copy)]
pub struct TakeSnapshot<'a> {
    pub checkout: &'a Checkout,
    pub run: &'a str,
    /// The reason, in a few words.
    pub why: &'a str,
    /// In seconds since 1970.
    pub at_seconds: i64,
    /// Paths that must not get into the repository, such as copied credentials.
    pub exclude: &'a [String],
    /// Files larger than this are left out and reported; `None` takes them all.
    pub max_file: Option<u64>,
    /// The tree of what the agent has staged, which the vault has.
    pub staged: Option<&'a Oid>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub ref_name: String,
    pub commit: Oid,
    pub tree: Oid,
    /// `HEAD` at that time; `None` before a first commit.
    pub head: Option<Oid>,
    /// Whether it is new: when nothing changed since the run's last one, that one is the answer.
    pub fresh: bool,
    pub skips: Skips,
    /// How many bytes of files had to be read.
    pub bytes: u64,
}

pub fn take_snapshot(take: &TakeSnapshot<'_>) -> Result<Snapshot, GitError> {
    let captured = look(take)?;
    store(take, &captured, &HeadState::of(take.checkout)?)
}

/// Takes a snapshot, unless there is nothing that `HEAD` does not have.
pub fn take_snapshot_of_rest(take: &TakeSnapshot<'_>) -> Result<Option<Snapshot>, GitError> {
    let captured = look(take)?;
    store_rest(take, &captured, &HeadState::of(take.checkout)?)
}

fn look(take: &TakeSnapshot<'_>) -> Result<Captured, GitError> {
    check_run(take.run)?;
    capture(take.wanted(CapturePurpose::Keep))
}

impl<'a> TakeSnapshot<'a> {
    pub(super) fn wanted(&self, purpose: CapturePurpose) -> CaptureRequest<'a> {
        let Self { checkout, exclude, max_file, .. } = *self;
        CaptureRequest { checkout, exclude, max_file, purpose }
    }

    fn facts(&self, captured: &Captured, head: &HeadState) -> MessageFacts {
        let is_elsewhere = |staged: &Oid| *staged == captured.keep.tree || head.has(staged);
        MessageFacts {
            run: self.run.to_owned(),
            why: self.why.to_owned(),
            at_seconds: self.at_seconds,
            head: head.commit.clone(),
            staged: self.staged.filter(|staged| !is_elsewhere(staged)).cloned(),
            nested: captured.nested.clone(),
        }
    }
}

/// Keeps what was captured, unless `HEAD` has all of it. Where something could not be captured there is a snapshot in any
/// case, which tells.
pub(super) fn store_rest(
    take: &TakeSnapshot<'_>,
    captured: &Captured,
    head: &HeadState,
) -> Result<Option<Snapshot>, GitError> {
    let facts = take.facts(captured, head);
    let is_all = !captured.keep.skips.is_a_loss();
    if is_all && head.has(&captured.keep.tree) && facts.staged.is_none() && facts.nested.is_none() {
        return Ok(None);
    }
    store(take, captured, head).map(Some)
}

/// Keeps what was captured. When nothing changed since the run's last snapshot, that one is the answer.
pub(super) fn store(
    take: &TakeSnapshot<'_>,
    captured: &Captured,
    head: &HeadState,
) -> Result<Snapshot, GitError> {
    let (checkout, facts) = (take.checkout, take.facts(captured, head));
    let last = stored::last(&checkout.common_dir, take.run)?;
    if let Some(last) = &last
        && last.tree == captured.keep.tree
        && last.facts.same_content(&facts)
    {
        return Ok(answer(captured, facts, (last.ref_name.clone(), last.commit.clone()), false));
    }
    let vault = &checkout.common_dir;
    if !head.has(&captured.keep.tree) {
        complete(vault, facts.head.as_ref(), &captured.keep.tree)?;
    }
    if let Some(nested) = &facts.nested {
        complete(vault, None, nested)?;
    }
    let commit = write(checkout, &captured.keep.tree, &facts)?;
    let number = last.map_or(1, |last| last.number.saturating_add(1));
    let ref_name = keep(checkout, take.run, number, &commit)?;
    Ok(answer(captured, facts, (ref_name, commit), true))
}

/// The whole work tree as it is now, as a commit on top of `HEAD` that no ref names, and `HEAD`: for read-only callers.
/// Git collects it later.
///
/// A snapshot would be kept: a caller that reads a run which just ends may find the files of the next one, and that
/// must not become the last known state of the first.
pub fn unnamed_snapshot(take: &TakeSnapshot<'_>) -> Result<(Oid, Option<Oid>), GitError> {
    let checkout = take.checkout;
    let captured = capture(take.wanted(CapturePurpose::Keep))?;
    let facts = MessageFacts {
        run: take.run.to_owned(),
        why: take.why.to_owned(),
        at_seconds: take.at_seconds,
        head: refs::head(&checkout.git_dir)?,
        staged: None,
        nested: None,
    };
    Ok((write(checkout, &captured.keep.tree, &facts)?, facts.head))
}

fn answer(
    captured: &Captured,
    facts: MessageFacts,
    (ref_name, commit): (String, Oid),
    fresh: bool,
) -> Snapshot {
    let keep = captured.keep.clone();
    let MessageFacts { head, .. } = facts;
    Snapshot { ref_name, commit, tree: keep.tree, head, fresh, skips: keep.skips, bytes: captured.bytes }
}

/// The part of `HEAD` that a snapshot needs.
#[derive(Debug)]
pub(super) struct HeadState {
    pub(super) commit: Option<Oid>,
    pub(super) tree: Option<Oid>,
}

impl HeadState {
    pub(super) fn of(checkout: &Checkout) -> Result<Self, GitError> {
        let Some(commit) = refs::head(&checkout.git_dir)? else {
            return Ok(Self { commit: None, tree: None });
        };
        let tree = refs::tree_of(&checkout.git_dir, &commit)?;
        Ok(Self { commit: Some(commit), tree: Some(tree) })
    }

    pub(super) fn has(&self, tree: &Oid) -> bool {
        self.tree.as_ref() == Some(tree)
    }
}

/// Writes the commit of a snapshot, and those that hold what does not fit into its tree.
fn write(checkout: &Checkout, tree: &Oid, facts: &MessageFacts) -> Result<Oid, GitError> {
    let mut parents = Vec::from_iter(&facts.head);
    let staged = part(checkout, facts, facts.staged.as_ref(), "staged")?;
    let nested = part(checkout, facts, facts.nested.as_ref(), "inside of nested repositories")?;
    parents.extend(&staged);
    parents.extend(&nested);
    commit_tree(checkout, (tree, &parents), &facts.to_message(), facts.at_seconds)
}

fn part(
    checkout: &Checkout,
    facts: &MessageFacts,
    tree: Option<&Oid>,
    what: &str,
) -> Result<Option<Oid>, GitError> {
    let Some(tree) = tree else { return Ok(None) };
    let parents = Vec::from_iter(&facts.head);
    let message = format!("{what}, in run {}\n", facts.run);
    commit_tree(checkout, (tree, &parents), &message, facts.at_seconds).map(Some)
}

/// Writes a commit of ours.
pub(super) fn commit_tree(
    checkout: &Checkout,
    (tree, parents): (&Oid, &[&Oid]),
    message: &str,
    at_seconds: i64,
) -> Result<Oid, GitError> {
    let date = format!("@{} +0000", at_seconds.max(0));
    let mut git = Git::within(checkout).args(["commit-tree", tree.as_str(), "-m", message]);
    for parent in parents {
        git = git.args(["-p", parent.as_str()]);
    }
    for (name, email, when) in [
        ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE"),
        ("GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE"),
    ] {
        git = git.env(name, OUR_NAME).env(email, OUR_EMAIL).env(when, &date);
    }
    git.oid()
}

/// Gives the commit the first free number from `number` on.
fn keep(checkout: &Checkout, run: &str, number: u64, commit: &Oid) -> Result<String, GitError> {
    // Another snapshot of the same run at the same time is rare, a hundred of them cannot be.
    let mut refusal = None;
    for number in number..number.saturating_add(100) {
        let name = format!("{FOLDER}/{run}/{number}");
        if loose::create(&checkout.common_dir, &name, commit).is_some() {
            return Ok(name);
        }
        let answer = Git::about(&checkout.common_dir)
            .args(["update-ref", "--no-deref", &name, commit.as_str(), &commit.zeros()])
            .answer()?;
        if answer.code == Some(0) {
            return Ok(name);
        }
        // A number whose lock a killed process left is passed over.
        if !refs::exists(&checkout.common_dir, &name)?
            && loose::locked_for(&checkout.common_dir, &name).is_none()
        {
            return Err(answer.failure());
        }
        refusal = Some(answer.failure());
    }
    Err(refusal.unwrap_or_else(|| GitError::Refused("there is no free number for a snapshot".to_owned())))
}

/// A run is one part of the name of a ref.
pub(super) fn check_run(run: &str) -> Result<(), GitError> {
    if run.contains('/') {
        return Err(GitError::Refused(format!("{run:?} cannot be the name of a run: it has a slash")));
    }
    check_ref_name(run).map_err(|error| GitError::Refused(error.to_string()))
}

fn folder(run: Option<&str>) -> Result<String, GitError> {
    match run {
        None => Ok(format!("{FOLDER}/")),
        Some(run) => check_run(run).map(|()| format!("{FOLDER}/{run}/")),
    }
}

fn is_ours(name: &str) -> bool {
    Path::new(name).starts_with(FOLDER) && check_ref_name(name).is_ok()
}
