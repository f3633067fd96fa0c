//! The whole work tree as a git tree, without touching what the agent works with.
//!
//! Owns how files become objects: snapshots and commits are both made of what is captured here. Must never write the
//! checkout's own index, `HEAD` or files, must not need them to be in order (a lock that is held, a merge with
//! conflicts, a damaged index and files that come and go are all everyday), and must never leave a file out without
//! saying so.

mod add;
mod index;
mod list;
mod nested;

use std::collections::HashSet;
use std::io::{BufWriter, Write as _};

use self::list::{Limits, Listed};
use super::checkout::Checkout;
use super::command::Git;
use super::error::GitError;
use super::oid::Oid;
use super::refs;

pub(super) use self::index::Scratch;

/// How many skipped files are named; the rest are counted.
const NAMED_SKIPS: usize = 100;

/// A file that is not in a snapshot or commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its path in the work tree, as bytes: a name need not be text.
    pub path: Vec<u8>,
    /// Why it was left out.
    pub why: SkippedWhy,
}

/// Why a file was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkippedWhy {
    /// It may not be read.
    Unreadable,
    /// It is larger than the caller allows.
    TooLarge {
        /// How large it is.
        bytes: u64,
    },
    /// It is neither a file nor a link: a pipe, a socket, a device.
    Special,
    /// It was gone before it could be read.
    Vanished,
    /// Git refuses it, for instance because a filter failed.
    Rejected,
    /// A repository inside of the work tree that git cannot read, or whose commits it cannot pack.
    BrokenRepository,
}

impl SkippedWhy {
    /// Whether somebody's work is not where it should be. A pipe has no content, and what was gone before it could be
    /// read was removed by somebody else.
    const fn is_a_loss(&self) -> bool {
        !matches!(self, Self::Special | Self::Vanished)
    }
}

/// Files that were left out: the first of them, and how many in all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skips {
    /// The first hundred.
    pub named: Vec<Skipped>,
    /// All of them.
    pub total: u64,
}

impl Skips {
    /// Whether somebody's work is among them. More than are named count as yes.
    pub fn is_a_loss(&self) -> bool {
        self.total > self.named.len() as u64 || self.named.iter().any(|skipped| skipped.why.is_a_loss())
    }

    fn add(&mut self, skipped: Skipped) {
        self.total += 1;
        if self.named.len() < NAMED_SKIPS {
            self.named.push(skipped);
        }
    }
}

/// What the captured files are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To lose nothing: also what is staged, inside of submodules, or refused by a filter.
    Keep,
    /// To become history: as `git add --all` would have it.
    Commit,
}

impl Purpose {
    /// A command with our index. One that nobody sees after us needs no checksum, which is most of the work of writing a
    /// large one; one that takes the place of the agent's is for programs that insist on it.
    fn git(self, checkout: &Checkout, index: &Scratch) -> Git {
        let git = Git::within(checkout).index(index.path());
        match self {
            Self::Keep => git.setting("index.skipHash=true"),
            Self::Commit => git,
        }
    }
}

/// What to capture.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) checkout: &'a Checkout,
    /// Paths that must not get into the repository, such as copied credentials.
    pub(super) exclude: &'a [String],
    pub(super) max_file: Option<u64>,
    pub(super) purpose: Purpose,
}

/// A captured work tree.
#[derive(Debug)]
pub(super) struct Captured {
    /// An index that matches `tree` and knows the files.
    pub(super) index: Scratch,
    pub(super) tree: Oid,
    /// What the agent has staged; `None` in the middle of a conflict.
    pub(super) staged: Option<Oid>,
    /// What is only inside of other repositories in the work tree.
    pub(super) nested: Option<Oid>,
    pub(super) skips: Skips,
    /// How much had to be read.
    pub(super) bytes: u64,
}

/// Captures the work tree.
pub(super) fn capture(wanted: Wanted<'_>) -> Result<Captured, GitError> {
    let checkout = wanted.checkout;
    let exclude: HashSet<&[u8]> = wanted.exclude.iter().map(String::as_bytes).collect();
    let limits = Limits { exclude: &exclude, max_file: wanted.max_file };
    let paths = Scratch::new(&checkout.git_dir, "paths");
    let (index, mut listed) = look(checkout, limits, &paths)?;
    forget_excluded(checkout, &index, wanted.exclude)?;
    let staged = match wanted.purpose {
        Purpose::Keep => staged_tree(checkout, &index)?,
        Purpose::Commit => None,
    };
    let found = nested::flatten(checkout, limits, &mut listed, &paths)?;
    add::unhide(checkout, &index, &listed.flagged)?;
    let mut skips = std::mem::take(&mut listed.skips);
    if listed.paths > 0 {
        add::add(&add::Target { checkout, index: &index, purpose: wanted.purpose }, &paths, &mut skips)?;
    }
    add::forget(checkout, &index, &listed.gone)?;
    let tree = wanted.purpose.git(checkout, &index).arg("write-tree").oid()?;
    let nested = match wanted.purpose {
        Purpose::Keep => nested::kept(checkout, limits, &found, &mut skips)?,
        Purpose::Commit => None,
    };
    Ok(Captured { index, tree, staged, nested, skips, bytes: listed.bytes })
}

/// Lists the work tree by a copy of its index, or by `HEAD` where the index is missing or damaged.
fn look(checkout: &Checkout, limits: Limits<'_>, paths: &Scratch) -> Result<(Scratch, Listed), GitError> {
    let list = |index: Scratch| {
        let mut out = BufWriter::new(paths.create()?);
        let listed = list::list(checkout, index.path(), limits, &mut out)?;
        out.flush().map_err(GitError::io(paths.path()))?;
        Ok((index, listed))
    };
    if let Some(index) = index::copy(checkout)? {
        match list(index) {
            Err(GitError::Failed { .. }) => {}
            answer => return answer,
        }
    }
    list(index::from_head(checkout)?)
}

/// What the agent has staged. Conflicts cannot be written, but their sides are in the commits that are merged.
fn staged_tree(checkout: &Checkout, index: &Scratch) -> Result<Option<Oid>, GitError> {
    let answer = Git::within(checkout).index(index.path()).arg("write-tree").answer()?;
    if answer.code == Some(0) { answer.oid().map(Some) } else { Ok(None) }
}

/// Takes excluded paths that the agent has staged out of our index, unless they are in `HEAD` by now: a commit that
/// removes them again would not make them secret.
fn forget_excluded(checkout: &Checkout, index: &Scratch, exclude: &[String]) -> Result<(), GitError> {
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
