//! Committing what an agent left uncommitted.
//!
//! Owns how leftovers become a commit in the vault. Must be called when nothing works in the checkout any more. Must
//! never touch a branch: bringing work to the user is for `publish`.

use std::fs;
use std::io;
use std::thread;

use super::capture::{
    CapturePurpose, CaptureRequest, Captured, CapturedTree, ScratchFile, Skipped, SkippedWhy, Skips, capture,
    tree_without,
};
use super::checkout::Checkout;
use super::command::Git;
use super::error::GitError;
use super::new_entries::{NewEntry, new_entries};
use super::oid::Oid;
use super::refused_files::refused_files;
use super::snapshot::{self, HeadState, OUR_EMAIL, OUR_NAME, Snapshot, TakeSnapshot};
use super::vault::{complete, complete_new};
use super::workspace::set_head;

/// In the administrative folder of a workspace: what we committed last, and on which commit of the agent's.
const NOTE: &str = "committed";

#[derive(Debug, Clone, Copy)]
pub struct CommitLeftovers<'a> {
    /// The checkout, with our own index, and our `HEAD` where the agent's is.
    pub checkout: &'a Checkout,
    pub message: &'a str,
    /// Paths that must not get into the repository, such as copied credentials.
    pub exclude: &'a [String],
}

/// Where the work of a run is, after its leftovers were committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftovers {
    /// `None` when nothing was left to commit.
    pub commit: Option<Oid>,
    /// The only parent of `commit`, if it has one.
    pub parent: Option<Oid>,
    /// The commit that has everything; `None` in a repository where nothing was ever committed.
    pub head: Option<Oid>,
    pub skips: Skips,
    /// Whether much was committed that cannot be compressed: trying to takes most of the time.
    pub is_dense: bool,
}

/// The end of a run: what to commit, and what to keep.
#[derive(Debug, Clone, Copy)]
pub struct CommitAndSnapshot<'a> {
    pub commit: CommitLeftovers<'a>,
    /// A snapshot of the same checkout.
    pub snapshot: TakeSnapshot<'a>,
    /// Where the run began. Work that is still there needs no snapshot, unless something is not committed.
    pub base: &'a Oid,
}

/// Commits what is left, on top of `HEAD`, which follows, and takes a snapshot, both of the same look at the work tree.
///
/// A merge or rebase that is under way ends as a plain commit of the files. Hooks and signing are not used, and there is
/// an author even if git knows none.
pub fn commit_and_snapshot(
    wanted: &CommitAndSnapshot<'_>,
) -> Result<(Leftovers, Option<Snapshot>), GitError> {
    let CommitAndSnapshot { commit: leftovers, snapshot: take, base } = wanted;
    snapshot::check_run(take.run)?;
    // Neither waits for the other, and both ask git.
    let (captured, head) = thread::scope(|scope| {
        let head = scope.spawn(|| HeadState::of(take.checkout));
        let captured = capture(CaptureRequest {
            exclude: leftovers.exclude,
            ..take.wanted(CapturePurpose::CommitAndKeep)
        });
        (captured, head.join().unwrap_or_else(|_| HeadState::of(take.checkout)))
    });
    let captured = captured?;
    let (leftovers, head) = commit(leftovers, &captured, head?)?;
    let snapshot = match &leftovers.head {
        Some(head_commit) if head_commit != *base => snapshot::store(take, &captured, &head).map(Some)?,
        _ => snapshot::store_rest(take, &captured, &head)?,
    };
    settle(take.checkout, &captured.index)?;
    Ok((leftovers, snapshot))
}

/// Commits what was captured. Also says what `HEAD` is then.
fn commit(
    wanted: &CommitLeftovers<'_>,
    captured: &Captured,
    old: HeadState,
) -> Result<(Leftovers, HeadState), GitError> {
    let CapturedTree { tree, skips } = committable(wanted.checkout, captured, &old)?;
    let commit = match &old.commit {
        Some(_) if old.has(&tree) => None,
        None if is_empty(&tree) => None,
        parent => Some(write(wanted, &tree, parent.as_ref())?),
    };
    let parent = old.commit.clone();
    let head = match &commit {
        Some(commit) => {
            note_base(wanted.checkout, commit, old.commit.as_ref())?;
            set_head(wanted.checkout, commit)?;
            HeadState { commit: Some(commit.clone()), tree: Some(tree) }
        }
        None => old,
    };
    let leftovers =
        Leftovers { commit, parent, head: head.commit.clone(), skips, is_dense: captured.is_dense };
    Ok((leftovers, head))
}

/// What can be committed of what was captured, with all its objects in the vault. Files that git refuses are left as they
/// were: the snapshot has them.
fn committable(checkout: &Checkout, captured: &Captured, old: &HeadState) -> Result<CapturedTree, GitError> {
    let (CapturedTree { tree, mut skips }, vault) = (captured.commit.clone(), &checkout.common_dir);
    if old.has(&tree) {
        return Ok(CapturedTree { tree, skips });
    }
    let from = old.commit.as_ref();
    let new = new_entries(vault, from, &tree)?;
    let Some(refused) = refused_files(vault, (from, &tree), &new)? else {
        complete_new(vault, (from, &tree), &new)?;
        return Ok(CapturedTree { tree, skips });
    };
    let tree = tree_without(checkout, &captured.index, &refused.files)?;
    complete(vault, from, &tree)?;
    for NewEntry { path, .. } in refused.files {
        skips.add(Skipped { path, why: SkippedWhy::Rejected });
    }
    Ok(CapturedTree { tree, skips })
}

/// Notes the agent's commit on which ours is based.
fn note_base(checkout: &Checkout, commit: &Oid, base: Option<&Oid>) -> Result<(), GitError> {
    let (Some(base), note) = (base, checkout.git_dir.join(NOTE)) else { return Ok(()) };
    // On top of an earlier one of ours, it is still the same commit of the agent's.
    let base = agents_commit(checkout, base).unwrap_or_else(|| base.clone());
    fs::write(&note, format!("{commit} {base}\n")).map_err(GitError::io(&note))
}

/// The commit of the agent's that `head` was made on, if `head` is ours.
pub(super) fn agents_commit(checkout: &Checkout, head: &Oid) -> Option<Oid> {
    let note = fs::read_to_string(checkout.git_dir.join(NOTE)).ok()?;
    let (commit, base) = note.trim_end().split_once(' ')?;
    Oid::parse(base).ok().filter(|_| commit == head.as_str())
}

/// Makes our index that of the commit. After `HEAD` has moved: killed in between, the next attempt finds nothing to
/// commit and gets here.
fn settle(checkout: &Checkout, index: &ScratchFile) -> Result<(), GitError> {
    let own = checkout.git_dir.join("index");
    fs::rename(index.path(), &own).map_err(GitError::io(&own))
}

fn is_empty(tree: &Oid) -> bool {
    // The name of the empty tree, in either kind of repository.
    const EMPTY: [&str; 2] = [
        "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
    ];
    EMPTY.contains(&tree.as_str())
}

fn write(wanted: &CommitLeftovers<'_>, tree: &Oid, parent: Option<&Oid>) -> Result<Oid, GitError> {
    commit_as_user(|| {
        let git = Git::within(wanted.checkout).args(["commit-tree", tree.as_str(), "-m", wanted.message]);
        match parent {
            Some(parent) => git.args(["-p", parent.as_str()]),
            None => git,
        }
    })
}

/// Commits as the configured git user, or else under our own name.
pub(super) fn commit_as_user(git: impl Fn() -> Git) -> Result<Oid, GitError> {
    // An author that git guesses from the names of the account and the machine is wrong.
    let answer = git().setting("user.useConfigOnly=true").answer()?;
    if answer.code == Some(0) {
        return answer.oid();
    }
    git()
        .env("GIT_AUTHOR_NAME", OUR_NAME)
        .env("GIT_AUTHOR_EMAIL", OUR_EMAIL)
        .env("GIT_COMMITTER_NAME", OUR_NAME)
        .env("GIT_COMMITTER_EMAIL", OUR_EMAIL)
        .oid()
}

pub(super) fn remove(path: &std::path::Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}
