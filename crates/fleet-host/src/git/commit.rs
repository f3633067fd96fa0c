//! Committing what an agent left uncommitted.
//!
//! Owns how leftovers become a commit on the branch of a run. Must be called when nothing works in the checkout any
//! more. Must never move a branch other than the one it was given, and never that one backwards.

use std::fs;
use std::io;
use std::path::PathBuf;

use super::capture::{Captured, Purpose, Skips, Wanted, capture};
use super::checkout::Checkout;
use super::command::Git;
use super::error::GitError;
use super::files::{self, Head};
use super::gitdir::is_absence;
use super::oid::Oid;
use super::refs::{self, branch_commit, checked_out_at, is_ancestor};
use super::snapshot::{OUR_EMAIL, OUR_NAME};

/// What git notes about a merge, rebase, pick or bisection that is under way. The files that such a state left are
/// committed as they are; with the notes still there, the next command would go on with it.
const UNDER_WAY: [&str; 15] = [
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "MERGE_RR",
    "AUTO_MERGE",
    "SQUASH_MSG",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "BISECT_LOG",
    "BISECT_START",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "index.lock",
];

/// What to commit, and where.
#[derive(Debug, Clone, Copy)]
pub struct CommitLeftovers<'a> {
    /// The checkout.
    pub checkout: &'a Checkout,
    /// The branch of the run, whatever is checked out by now.
    pub branch: &'a str,
    /// The message.
    pub message: &'a str,
    /// Paths that must not get into the repository, such as copied credentials.
    pub exclude: &'a [String],
}

/// Where the work of a run is, after its leftovers were committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftovers {
    /// The new commit; `None` when nothing was left.
    pub commit: Option<Oid>,
    /// The commit that has everything; `None` in a repository where nothing was ever committed.
    pub head: Option<Oid>,
    /// Whether the branch has it too.
    pub branch: BranchHas,
    /// What could not be taken in.
    pub skips: Skips,
}

/// Whether the branch of a run has its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchHas {
    /// The branch is at `head`.
    Everything,
    /// The branch could not follow: its commits are not in `head`, or someone else has it checked out. It stays
    /// where it is and `HEAD` is detached at the work. A snapshot taken now keeps that from being collected.
    NotTheWork {
        /// Where the branch is, if there is one.
        branch_at: Option<Oid>,
    },
}

/// Commits everything in the work tree that is not ignored, on top of `HEAD`, and lets the branch follow.
///
/// In the usual case, with the branch checked out, this moves the branch. An agent that detached `HEAD` or made a
/// branch of its own did its work there: then the run's branch is moved on to it if that loses nothing, and checked
/// out again; the agent's branch stays as the agent left it. A merge or rebase that is under way ends as a plain
/// commit of the files. Hooks and signing are not used, and there is an author even if git knows none.
pub fn commit_leftovers(wanted: &CommitLeftovers<'_>) -> Result<Leftovers, GitError> {
    let checkout = wanted.checkout;
    let full_name = refs::full_name(wanted.branch)?;
    let captured =
        capture(Wanted { checkout, exclude: wanted.exclude, max_file: None, purpose: Purpose::Commit })?;
    let old = refs::head(&checkout.git_dir)?;
    let commit = match &old {
        Some(old) if refs::tree_of(&checkout.git_dir, old)? == captured.tree => None,
        None if is_empty(&captured) => None,
        _ => Some(write(wanted, &captured.tree, old.as_ref())?),
    };
    let head = commit.clone().or_else(|| old.clone());
    let on_branch = symbolic_head(checkout)?.as_deref() == Some(full_name.as_str());
    let branch = match &head {
        None => BranchHas::NotTheWork { branch_at: None },
        Some(head) if on_branch => move_ref(checkout, &full_name, head, old.as_ref())?,
        Some(head) => follow(checkout, wanted.branch, &full_name, head)?,
    };
    let Captured { index, skips, .. } = captured;
    // After the branch: killed in between, the next attempt finds nothing to commit and gets here.
    clear_under_way(checkout)?;
    let theirs = checkout.git_dir.join("index");
    fs::rename(index.path(), &theirs).map_err(GitError::io(&theirs))?;
    Ok(Leftovers { commit, head, branch, skips })
}

/// Makes the branch of a run again if somebody deleted it while it was checked out: where `HEAD` was last, as far as
/// its log tells, or else at `base`. Without it, leftovers would be a history of their own, and the agent's commits
/// would be nobody's. Whether it did.
pub fn revive_branch(checkout: &Checkout, branch: &str, base: &Oid) -> Result<bool, GitError> {
    let name = refs::full_name(branch)?;
    if refs::head(&checkout.git_dir)?.is_some() || symbolic_head(checkout)?.as_deref() != Some(name.as_str())
    {
        return Ok(false);
    }
    let last = last_head(checkout).and_then(|last| refs::resolve_commit(&checkout.common_dir, &last).ok());
    let at = last.as_ref().unwrap_or(base);
    let message = "codefleet: the branch was deleted while a run was at work on it";
    let git = Git::about(&checkout.git_dir).args([
        "update-ref",
        "--no-deref",
        "-m",
        message,
        &name,
        at.as_str(),
        &at.zeros(),
    ]);
    git.run().map(|()| true)
}

/// The last commit that the log of `HEAD` names: a line has the old one, the new one, and who moved it.
fn last_head(checkout: &Checkout) -> Option<String> {
    let log = fs::read(checkout.git_dir.join("logs/HEAD")).ok()?;
    // Names of people need not be text; those of commits are.
    let line =
        String::from_utf8_lossy(log.trim_ascii_end().rsplit(|byte| *byte == b'\n').next()?).into_owned();
    let mut names = line.split(' ');
    let (old, new) = (names.next()?, names.next()?);
    let is_none = new.bytes().all(|byte| byte == b'0');
    Some(if is_none { old } else { new }.to_owned())
}

/// Whether something may be staged that is neither in `HEAD` nor among the files: a commit of the files leaves it out,
/// and takes the place of the index that has it. Rather yes than no; one that cannot be told counts as yes.
pub fn has_staged_alone(checkout: &Checkout) -> Result<bool, GitError> {
    let differs =
        |args: &[&str]| Ok::<_, GitError>(Git::within(checkout).args(args).answer()?.code != Some(0));
    Ok(differs(&["diff-index", "--cached", "--quiet", "--ignore-submodules=all", "HEAD", "--"])?
        && differs(&["diff-files", "--quiet", "--ignore-submodules=all"])?)
}

fn is_empty(captured: &Captured) -> bool {
    // The name of the empty tree, in either kind of repository.
    const EMPTY: [&str; 2] = [
        "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
    ];
    EMPTY.contains(&captured.tree.as_str())
}

fn write(wanted: &CommitLeftovers<'_>, tree: &Oid, parent: Option<&Oid>) -> Result<Oid, GitError> {
    commit_as_somebody(|| {
        let git = Git::within(wanted.checkout).args(["commit-tree", tree.as_str(), "-m", wanted.message]);
        match parent {
            Some(parent) => git.args(["-p", parent.as_str()]),
            None => git,
        }
    })
}

/// Commits as the person whom git knows, or else under our own name.
pub(super) fn commit_as_somebody(git: impl Fn() -> Git) -> Result<Oid, GitError> {
    // An author that git would guess from the names of the account and the machine is nobody's.
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

/// What `HEAD` stands for: the full name of a branch, or `None` when it is detached.
fn symbolic_head(checkout: &Checkout) -> Result<Option<String>, GitError> {
    match files::head(&checkout.git_dir) {
        Some(Head::Branch(name)) => return Ok(Some(name)),
        Some(Head::Detached(_)) => return Ok(None),
        None => {}
    }
    let answer = Git::about(&checkout.git_dir).args(["symbolic-ref", "--quiet", "HEAD"]).answer()?;
    if answer.code == Some(1) {
        return Ok(None);
    }
    let name = answer.succeeded()?;
    Ok(Some(String::from_utf8_lossy(name.trim_ascii()).into_owned()))
}

/// Moves a ref from where it was seen, or makes it if it was not there.
fn move_ref(checkout: &Checkout, name: &str, new: &Oid, old: Option<&Oid>) -> Result<BranchHas, GitError> {
    if old != Some(new) {
        let seen = old.map_or_else(|| new.zeros(), Oid::to_string);
        let message = "codefleet: leftovers";
        Git::about(&checkout.git_dir)
            .args(["update-ref", "--no-deref", "-m", message, name, new.as_str(), &seen])
            .run()?;
    }
    Ok(BranchHas::Everything)
}

/// Lets the branch follow a `HEAD` that was led away from it.
fn follow(checkout: &Checkout, branch: &str, full_name: &str, head: &Oid) -> Result<BranchHas, GitError> {
    let branch_at = branch_commit(&checkout.common_dir, branch)?;
    let loses_nothing = match &branch_at {
        Some(at) => is_ancestor(&checkout.git_dir, at, head)?,
        None => true,
    };
    let git = || Git::about(&checkout.git_dir);
    // First of all the work itself, in case that this is as far as we get.
    git().args(["update-ref", "--no-deref", "-m", "codefleet: leftovers", "HEAD", head.as_str()]).run()?;
    if !loses_nothing || is_elsewhere(checkout, branch)? {
        return Ok(BranchHas::NotTheWork { branch_at });
    }
    move_ref(checkout, full_name, head, branch_at.as_ref())?;
    git().args(["symbolic-ref", "-m", "codefleet: leftovers", "HEAD", full_name]).run()?;
    Ok(BranchHas::Everything)
}

fn is_elsewhere(checkout: &Checkout, branch: &str) -> Result<bool, GitError> {
    let canonical = |path: &PathBuf| fs::canonicalize(path).ok();
    let place = checked_out_at(&checkout.common_dir, branch)?;
    Ok(place.is_some_and(|place| canonical(&place) != canonical(&checkout.work_tree)))
}

fn clear_under_way(checkout: &Checkout) -> Result<(), GitError> {
    for name in UNDER_WAY {
        let path = checkout.git_dir.join(name);
        match remove(&path) {
            Err(error) if !is_absence(&error) => return Err(GitError::io(&path)(error)),
            _ => {}
        }
    }
    Ok(())
}

/// Removes a file or a folder.
pub(super) fn remove(path: &std::path::Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}
