//! Putting a branch of committed work into the user's repository.
//!
//! Owns the only way by which commits of a run get there. Must never move, replace or bring back what a person moved,
//! deleted or has checked out, and must be safe beside any git command of a person, `git gc --prune=now` included:
//! objects come in a new pack that housekeeping may not touch until the branch is set (see `pack`), and the branch is
//! set only from where it was seen.

mod in_use;
mod pack;

use std::fmt;
use std::path::{Path, PathBuf};

use self::pack::{Pack, PackWanted};
use super::command::Git;
use super::error::GitError;
use super::files::{self, Tip};
use super::loose;
use super::objects;
use super::oid::Oid;
use super::refs;
use super::retries::LockRetries;

pub(in crate::git) use self::in_use::place as place_in_use;
pub(super) use self::pack::ABANDONED_AFTER;
pub use self::pack::sweep_keeps;

/// Objects are packed again when the user's git repacked them under our feet; other failures repeat themselves.
const PACK_ATTEMPTS: usize = 3;

#[derive(Debug, Clone, Copy)]
pub struct Publish<'a> {
    /// The user's repository, its git common directory.
    pub repo: &'a Path,
    /// Our git directory. It has all objects of `commit`, its own or borrowed from `repo`.
    pub vault: &'a Path,
    pub branch: &'a str,
    /// Where the branch should point.
    pub commit: &'a Oid,
    /// Where we know the branch to be: what we published last, or where an earlier attempt left it. `None` if it must
    /// not exist.
    pub expected: Option<&'a Oid>,
    /// Commits that the user's repository keeps: the base, which is held, and `expected`. What they reach is not
    /// copied.
    pub known: &'a [Oid],
    /// Whether it pays to compress what has to be copied.
    pub compression: Compression,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Compression {
    #[default]
    Quick,
    /// Not at all: much of it cannot be compressed.
    None,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Published {
    /// The branch points to the commit.
    Done,
    /// The branch was not changed.
    Kept(NotPublished),
}

/// What kept a branch from being published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotPublished {
    /// The branch has commits that are not ours.
    Moved {
        at: Oid,
    },
    Deleted,
    /// The branch existed before its task, and would lose commits that it had when the run began.
    Rewritten,
    /// The branch is checked out, or a rebase or bisection will return to it.
    CheckedOut {
        place: PathBuf,
    },
    /// There cannot be a new branch of this name.
    NameTaken {
        why: String,
    },
    /// A git of the user's holds a lock, or was killed and left it.
    Locked {
        lock: PathBuf,
    },
}

impl fmt::Display for NotPublished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Moved { at } => write!(f, "it was moved to {at}"),
            Self::Deleted => f.write_str("it was deleted"),
            Self::Rewritten => f.write_str("the agent rewrote commits that were there before"),
            Self::CheckedOut { place } => write!(f, "it is checked out at {}", place.display()),
            Self::NameTaken { why } => f.write_str(why),
            Self::Locked { lock } => {
                write!(f, "locked by {}, which a git that was killed may have left", lock.display())
            }
        }
    }
}

/// Sets a branch of the user's repository to a commit of the vault, with all objects that it needs.
pub fn publish(wanted: &Publish<'_>) -> Result<Published, GitError> {
    let name = refs::full_name(wanted.branch)?;
    let mut objects = Objects { wanted, packed: None };
    let mut retries = LockRetries::in_git_dir(wanted.repo);
    loop {
        let from = match next(wanted, &name) {
            Ok(PublishStep::Answer(answer)) => return Ok(answer),
            Ok(PublishStep::Set { from }) => from,
            Err(error) => {
                retries.pause_after(error)?;
                continue;
            }
        };
        objects.ensure_packed(from.as_ref())?;
        match set(wanted, &name, from.as_ref()) {
            Ok(()) => return Ok(Published::Done),
            // A lock of the user's git, or the branch moved in between: the next look tells which.
            Err(error) => {
                remove_own_lock(wanted, &name);
                if let Err(error) = retries.pause_after(error) {
                    return locked(error);
                }
            }
        }
    }
}

/// A lock that stays is theirs to remove: the work is safe without the branch.
fn locked(error: GitError) -> Result<Published, GitError> {
    match error.lock_in_the_way() {
        Some(lock) => Ok(Published::Kept(NotPublished::Locked { lock })),
        None => Err(error),
    }
}

/// What to do about the branch now.
enum PublishStep {
    Answer(Published),
    /// Set it, provided that it is still there.
    Set {
        from: Option<Oid>,
    },
}

fn next(wanted: &Publish<'_>, name: &str) -> Result<PublishStep, GitError> {
    let kept = |why| Ok(PublishStep::Answer(Published::Kept(why)));
    let from = match tip(wanted.repo, name)? {
        BranchTarget::Symbolic { target } => {
            return kept(NotPublished::NameTaken { why: format!("it is a symbolic ref to {target}") });
        }
        BranchTarget::Tip(Tip::At(at)) if at == *wanted.commit => {
            return Ok(PublishStep::Answer(Published::Done));
        }
        BranchTarget::Tip(tip) => tip.commit(),
    };
    match (&from, wanted.expected) {
        (None, Some(_)) => return kept(NotPublished::Deleted),
        (Some(_), None) => return kept(NotPublished::NameTaken { why: refs::TAKEN.to_owned() }),
        (Some(at), Some(expected)) if at != expected && !is_on_the_way(wanted, expected, at)? => {
            return kept(NotPublished::Moved { at: at.clone() });
        }
        _ => {}
    }
    if from.is_none()
        && !files::is_name_free(wanted.repo, name)
        && let Some(why) = refs::branch_conflict(wanted.repo, wanted.branch)?
    {
        return kept(NotPublished::NameTaken { why });
    }
    match in_use::place(wanted.repo, name)? {
        Some(place) => kept(NotPublished::CheckedOut { place }),
        None => Ok(PublishStep::Set { from }),
    }
}

/// What a branch is.
enum BranchTarget {
    Tip(Tip),
    /// It points to another branch, which is not ours to move.
    Symbolic {
        target: String,
    },
}

fn tip(repo: &Path, name: &str) -> Result<BranchTarget, GitError> {
    if let Some(tip) = files::commit_of(repo, name) {
        return Ok(BranchTarget::Tip(tip));
    }
    let git =
        Git::about(repo).args(["for-each-ref", "--format=%(refname) %(objectname) %(symref)", "--", name]);
    let answer = git.bytes()?;
    let text = String::from_utf8_lossy(&answer);
    // The pattern also matches all refs below it.
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    Ok(match line.and_then(|line| line.split_once(' ')) {
        None => BranchTarget::Tip(Tip::Nowhere),
        Some((oid, "")) => {
            BranchTarget::Tip(Tip::At(super::command::oid_of("for-each-ref", oid.as_bytes())?))
        }
        Some((_, target)) => BranchTarget::Symbolic { target: target.to_owned() },
    })
}

/// Whether a person only moved the branch forward, to a commit between where we left it and the one to publish. A
/// person who moved it back wants it there.
fn is_on_the_way(wanted: &Publish<'_>, left: &Oid, at: &Oid) -> Result<bool, GitError> {
    let is_in = |older: &Oid, newer: &Oid| refs::is_ancestor(wanted.vault, older, newer);
    Ok(is_in(left, at)? && is_in(at, wanted.commit)?)
}

/// Removes a lock that a killed process of ours left: it is for a commit that only we have.
fn remove_own_lock(wanted: &Publish<'_>, name: &str) {
    if let Some((lock, commit)) = loose::locked_for(wanted.repo, name)
        && objects::is_there(wanted.vault, &commit)
    {
        // What cannot be removed is waited for like any other.
        let _ = std::fs::remove_file(lock);
    }
}

/// Sets the branch if it is still at `from`.
fn set(wanted: &Publish<'_>, name: &str, from: Option<&Oid>) -> Result<(), GitError> {
    if from.is_none() && loose::create(wanted.repo, name, wanted.commit).is_some() {
        return Ok(());
    }
    // A branch that moves may have a log, which git writes.
    let from = from.map_or_else(|| wanted.commit.zeros(), Oid::to_string);
    Git::about(wanted.repo)
        .args(["update-ref", "--no-deref", "-m", "codefleet: publish", name])
        .args([wanted.commit.as_str(), &from])
        .run()
}

/// The objects of the commit in the user's repository, kept from housekeeping until this is dropped.
struct Objects<'a> {
    wanted: &'a Publish<'a>,
    /// From where the branch was to be set, and what had to be copied for that.
    packed: Option<(Option<Oid>, Option<Pack>)>,
}

impl Objects<'_> {
    fn ensure_packed(&mut self, from: Option<&Oid>) -> Result<(), GitError> {
        if self.packed.as_ref().is_some_and(|(packed_from, _)| packed_from.as_ref() == from) {
            return Ok(());
        }
        let pack = self.pack(&self.kept(from))?;
        self.packed = Some((from.cloned(), pack));
        Ok(())
    }

    /// What the user's repository has and keeps while the branch is at `from`, and when it was set from there. What we
    /// published earlier is among that only if the branch is still there.
    fn kept(&self, from: Option<&Oid>) -> Vec<Oid> {
        let known = self.wanted.known.iter().filter(|known| Some(*known) != self.wanted.expected);
        known.chain(from).cloned().collect()
    }

    fn pack(&self, known: &[Oid]) -> Result<Option<Pack>, GitError> {
        let Publish { repo, vault, commit, compression, .. } = *self.wanted;
        if known.contains(commit) {
            return Ok(None);
        }
        let bring = || Pack::bring(&PackWanted { repo, vault, commit, known, compression });
        let mut retries = LockRetries::in_git_dir(repo);
        for _ in 1..PACK_ATTEMPTS {
            match bring() {
                Err(error) => retries.pause_after(error)?,
                answer => return answer,
            }
        }
        bring()
    }
}
