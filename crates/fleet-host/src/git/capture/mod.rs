//! The whole work tree as a git tree, without touching what the agent works with.
//!
//! Owns how files become objects: snapshots and commits are both made of what is captured here. Must never write the
//! checkout's own index, `HEAD` or files, must not need them to be in order (a lock that is held, a merge with
//! conflicts, a damaged index and files that come and go are all normal), and must never leave a file out without
//! saying so.

mod add;
mod guard;
mod index;
mod list;
mod mirror;
mod nested;
mod paths;
mod store;
mod walk;

use std::collections::HashSet;

use self::add::AddTarget;
use self::guard::{Guard, IndexEntry};
use self::list::{CaptureLimits, Listed};
use self::nested::Repositories;
use self::paths::PathList;
use super::checkout::Checkout;
use super::command::Git;
use super::error::GitError;
use super::new_entries::{NewEntry, TreeItem};
use super::oid::Oid;
use super::refs;

pub(super) use self::index::{ScratchFile, copy_with_time};
pub(super) use self::walk::Survey;

/// How many skipped files are named; the rest are counted.
const NAMED_SKIPS: usize = 100;

/// A file that is not in a snapshot or commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its path in the work tree, as bytes: a name need not be text.
    pub path: Vec<u8>,
    pub why: SkippedWhy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkippedWhy {
    Unreadable,
    /// It is larger than the caller allows, or than what is left of the limit.
    TooLarge {
        /// How large it is.
        bytes: u64,
    },
    /// It exceeds the limit of new files, or is a folder with many of them.
    TooMany,
    /// It is neither a file nor a link: a pipe, a socket, a device.
    Special,
    Vanished,
    /// Git refuses it, for instance because a filter failed.
    Rejected,
    /// A repository inside of the work tree that git cannot read, or whose commits it cannot pack.
    BrokenRepository,
}

impl SkippedWhy {
    /// Whether work is missing. A pipe has no content, and what was gone before it could be read was removed by its
    /// owner.
    const fn is_a_loss(&self) -> bool {
        !matches!(self, Self::Special | Self::Vanished)
    }
}

/// Files that were left out: the first of them, and how many in all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skips {
    /// The first hundred.
    pub named: Vec<Skipped>,
    /// How many there are.
    pub total: u64,
}

impl Skips {
    /// Whether work is among them. More than are named count as yes.
    pub fn is_a_loss(&self) -> bool {
        self.total > self.named.len() as u64 || self.named.iter().any(|skipped| skipped.why.is_a_loss())
    }

    fn append(&mut self, other: Self) {
        let unnamed = other.total - other.named.len() as u64;
        other.named.into_iter().for_each(|skipped| self.add(skipped));
        self.total += unnamed;
    }

    pub(super) fn add(&mut self, skipped: Skipped) {
        self.total += 1;
        if self.named.len() < NAMED_SKIPS {
            self.named.push(skipped);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CapturePurpose {
    /// To lose nothing: also what is inside of submodules, or refused by a filter.
    Keep,
    /// Also for the history, as with `git add --all`.
    CommitAndKeep,
}

impl CapturePurpose {
    /// A command with our index. One that only we read needs no checksum, which is most of the work of writing a large
    /// one; one that replaces the checkout's own has it for programs that insist on it.
    fn git(self, checkout: &Checkout, index: &ScratchFile) -> Git {
        let git = Git::within(checkout).index(index.path());
        match self {
            Self::Keep => git.setting("index.skipHash=true"),
            Self::CommitAndKeep => git,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct CaptureRequest<'a> {
    pub(super) checkout: &'a Checkout,
    /// Paths that must not get into the repository, such as copied credentials.
    pub(super) exclude: &'a [String],
    pub(super) max_file: Option<u64>,
    pub(super) purpose: CapturePurpose,
}

#[derive(Debug, Clone)]
pub(super) struct CapturedTree {
    pub(super) tree: Oid,
    pub(super) skips: Skips,
}

#[derive(Debug)]
pub(super) struct Captured {
    /// An index that matches `commit` and knows the files.
    pub(super) index: ScratchFile,
    pub(super) commit: CapturedTree,
    pub(super) keep: CapturedTree,
    /// What is only inside other repositories in the work tree.
    pub(super) nested: Option<Oid>,
    pub(super) bytes: u64,
    /// Whether much of that cannot be compressed.
    pub(super) is_dense: bool,
}

pub(super) fn capture(wanted: CaptureRequest<'_>) -> Result<Captured, GitError> {
    let CaptureRequest { checkout, purpose, .. } = wanted;
    let exclude: HashSet<&[u8]> = wanted.exclude.iter().map(String::as_bytes).collect();
    let limits = CaptureLimits { exclude: &exclude, max_file: wanted.max_file };
    let survey = Survey::of(&checkout.work_tree)?;
    let SurveyedTree { index, mut listed, mut paths, links } = look(checkout, limits, &survey)?;
    forget_excluded(checkout, &index, wanted.exclude)?;
    let mut repositories = Repositories::of(checkout, limits, &survey);
    repositories.flatten(&mut listed, &links, &mut paths)?;
    add::unhide(checkout, &index, &listed.flagged)?;
    listed.flagged.iter().try_for_each(|path| paths.push(path, 0))?;
    let target = AddTarget::new(checkout, &index, purpose);
    let added = add::add(&target, &mut paths)?;
    for path in added.impossible {
        listed.skips.add(Skipped { path, why: SkippedWhy::Rejected });
    }
    add::forget(checkout, &index, &listed.gone)?;
    add::put(checkout, &index, &repositories.moved(&links))?;
    let tree = target.git().arg("write-tree").oid()?;
    let (commit, mut keep) = trees(&target, tree, listed.skips, added.refused)?;
    let nested = repositories.keep(&mut keep.skips)?;
    Ok(Captured { index, commit, keep, nested, bytes: paths.bytes, is_dense: added.is_dense })
}

/// The trees for a commit, whose name is known, and for a snapshot. They are the same unless git refuses a file.
fn trees(
    target: &AddTarget<'_>,
    tree: Oid,
    skips: Skips,
    refused: Vec<Vec<u8>>,
) -> Result<(CapturedTree, CapturedTree), GitError> {
    let rejected = |mut skips: Skips, paths: &[Vec<u8>]| {
        let why = SkippedWhy::Rejected;
        for path in paths {
            skips.add(Skipped { path: path.clone(), why });
        }
        skips
    };
    let commit = CapturedTree { tree, skips: rejected(skips.clone(), &refused) };
    if refused.is_empty() {
        return Ok((commit.clone(), commit));
    }
    let copy = target.index.copied(&target.checkout.git_dir)?;
    let raw = AddTarget::new(target.checkout, &copy, CapturePurpose::Keep);
    let failed = add::add_raw(&raw, refused)?;
    let keep = CapturedTree { tree: raw.git().arg("write-tree").oid()?, skips: rejected(skips, &failed) };
    Ok((commit, keep))
}

struct SurveyedTree {
    index: ScratchFile,
    listed: Listed,
    paths: PathList,
    links: Vec<IndexEntry>,
}

/// Lists the work tree by a copy of its index, or by `HEAD` where the index is missing or damaged.
fn look(checkout: &Checkout, limits: CaptureLimits<'_>, survey: &Survey) -> Result<SurveyedTree, GitError> {
    let guard = Guard::of(checkout, survey)?;
    let list = |index: ScratchFile| {
        let taken = guard::take_out(checkout, &index, survey)?;
        let (mut listed, mut paths) = list_bounded((checkout, &index), limits, &guard, survey)?;
        add::put(checkout, &index, &taken)?;
        let (links, files): (Vec<_>, Vec<_>) = taken.into_iter().partition(IndexEntry::is_link);
        list::list_tracked(checkout, limits, &files, &mut listed, &mut paths)?;
        let linked: HashSet<&[u8]> = links.iter().map(|link| link.path.as_slice()).collect();
        let embedded = guard.repositories.iter().filter(|path| !linked.contains(path.as_slice()));
        listed.embedded.extend(embedded.cloned());
        Ok(SurveyedTree { index, listed, paths, links })
    };
    if let Some(index) = index::copy(checkout)? {
        match list(index) {
            Err(GitError::Failed { .. }) => {}
            answer => return answer,
        }
    }
    list(index::from_head(checkout)?)
}

/// Lists the work tree. If there are too many new files, those of the largest new folders are left out, so that the
/// work of an agent is not lost among the output of its tools.
fn list_bounded(
    (checkout, index): (&Checkout, &ScratchFile),
    limits: CaptureLimits<'_>,
    guard: &Guard,
    survey: &Survey,
) -> Result<(Listed, PathList), GitError> {
    let mut paths = PathList::new(checkout, survey)?;
    let listed = list::list(checkout, index.path(), limits, guard, &mut paths)?;
    if !paths.is_overfull() {
        return Ok((listed, paths));
    }
    let guard = guard.without_largest(checkout, index, paths::MAX_NEW_FILES)?;
    let mut paths = PathList::new(checkout, survey)?;
    let listed = list::list(checkout, index.path(), limits, &guard, &mut paths)?;
    Ok((listed, paths))
}

/// The tree of an index of ours with these paths as they were before.
pub(super) fn tree_without(
    checkout: &Checkout,
    index: &ScratchFile,
    left_out: &[NewEntry],
) -> Result<Oid, GitError> {
    let copy = index.copied(&checkout.git_dir)?;
    let paths: Vec<_> = left_out.iter().map(|entry| entry.path.clone()).collect();
    add::forget(checkout, &copy, &paths)?;
    let before = |NewEntry { path, before, .. }: &NewEntry| {
        let TreeItem { mode, object } = before.clone().filter(|before| !before.is_folder())?;
        Some(IndexEntry { mode, object, path: path.clone() })
    };
    add::put(checkout, &copy, &left_out.iter().filter_map(before).collect::<Vec<_>>())?;
    Git::within(checkout).index(copy.path()).arg("write-tree").oid()
}

/// Takes excluded paths that the agent has staged out of an index of ours, unless they are in `HEAD` by now: a commit that
/// removes them again would not make them secret.
pub(in crate::git) fn forget_excluded(
    checkout: &Checkout,
    index: &ScratchFile,
    exclude: &[String],
) -> Result<(), GitError> {
    if exclude.is_empty() {
        return Ok(());
    }
    let within = || Git::within(checkout).index(index.path()).env("GIT_LITERAL_PATHSPECS", "1");
    let mut staged = Vec::new();
    within().args(["ls-files", "-z", "--"]).args(exclude).records(&mut |path| {
        staged.push(path.to_vec());
        Ok(())
    })?;
    if !staged.is_empty()
        && let Some(head) = refs::head(&checkout.git_dir)?
    {
        let head = head.as_str();
        within().args(["ls-tree", "-r", "-z", "--name-only", head, "--"]).args(exclude).records(
            &mut |path| {
                staged.retain(|staged| staged != path);
                Ok(())
            },
        )?;
    }
    add::forget(checkout, index, &staged)
}
