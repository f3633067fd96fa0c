//! Workspaces: for each run a worktree of its own, from a pool of warm ones.
//!
//! Owns the folder of a project's worktrees ("slots"), who has which of them, and their way from clean to used to
//! clean again. Each slot is a folder `w1` with two files beside it:
//!
//! - `w1.lock` is locked by the process that works with the slot, and by every git that it started there: a slot is
//!   free again only when all of them have ended, however they ended;
//! - `w1.json` says which run has the slot and how far it got. It is on disk before anything is changed and goes last,
//!   so that a killed process leaves a note, never a riddle.
//!
//! Must never hand out a slot that was not proven clean a moment ago, never delete anything of a slot that has an
//! owner, and never delete in the way of a user: what cannot be used again is moved aside.

mod clean;
mod open;
mod print;
mod register;
mod release;
mod reopen;
mod seen;
mod slot;
mod trash;
mod untouched;

use std::io;
use std::path::{Path, PathBuf};

use super::checkout::Checkout;
use super::error::GitError;
use super::oid::Oid;

use self::print::Print;
use self::slot::{Claim, Held};
use self::untouched::Stamp;

pub(in crate::git) use self::clean::has_flags;
pub use self::seen::Seen;
pub use self::slot::{Slot, SlotState};
pub use self::trash::{Emptied, Pace, empty_trash, move_to_trash};
pub use self::untouched::Untouched;

/// The worktrees of one project. All paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Area {
    /// The git common directory of the project.
    pub repo: PathBuf,
    /// The folder that holds the worktrees, of this project alone.
    pub dir: PathBuf,
    /// Where worktrees go that are not used any more, on the same file system.
    pub trash: PathBuf,
    /// How many free worktrees are kept warm.
    pub pool: usize,
    /// What a worktree keeps between runs.
    pub keep: Keep,
}

/// What a worktree keeps between runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Nothing but the tracked files.
    Nothing,
    /// Files that git ignores, such as installed packages and build caches. Quick, and a way from one run to
    /// another: for projects whose owner wants that.
    Ignored,
}

/// Where a branch starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartAt {
    /// A new branch at this commit; the name must be free.
    New(Oid),
    /// The branch that is there: an earlier attempt's.
    Continue,
}

/// Which workspace to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// The run that will have it.
    pub owner: String,
    /// The branch to check out.
    pub branch: String,
    /// Where it starts.
    pub start: StartAt,
}

/// A worktree that belongs to a run. Dropped without [`release`](Workspace::release), it stays the run's, to be
/// taken over by [`Area::adopt`].
#[derive(Debug)]
pub struct Workspace {
    area: Area,
    held: Held,
    claim: Claim,
    checkout: Checkout,
    recycled: bool,
    /// Its index when it was opened.
    index: Option<Stamp>,
    /// Its files when it was opened, if that can be told.
    print: Option<Print>,
}

/// Why there is no workspace.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The branch that should be continued does not exist.
    #[error("there is no branch {branch:?} to continue; start the task anew")]
    NoSuchBranch {
        /// The branch.
        branch: String,
    },
    /// The branch is checked out by someone else.
    #[error(
        "the branch {branch:?} is checked out at {}; switch to another one there first",
        .place.display()
    )]
    BranchInUse {
        /// The branch.
        branch: String,
        /// Where.
        place: PathBuf,
    },
    /// The submodules could not be checked out.
    #[error(
        "the submodules of the project cannot be checked out; try `git submodule update --init --recursive`"
    )]
    Submodules(#[source] GitError),
    /// A process still works with the workspace.
    #[error("the workspace of {owner:?} is in use by a living process; stop that first")]
    InUse {
        /// The run that has it.
        owner: String,
    },
    /// The note beside a slot cannot be read.
    #[error("{} is damaged; look at the folder beside it, save what you need and remove both", .path.display())]
    DamagedClaim {
        /// The note.
        path: PathBuf,
    },
    /// All numbers for worktrees are taken.
    #[error("there are more than {0} worktrees in use")]
    TooMany(usize),
    /// A file or folder of the pool could not be used.
    #[error("cannot use {}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl WorkspaceError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), source }
    }
}

impl Workspace {
    /// The root of its files.
    pub fn path(&self) -> &Path {
        &self.checkout.work_tree
    }

    /// The branch that it was opened with.
    pub fn branch(&self) -> &str {
        &self.claim.branch
    }

    /// The run that has it.
    pub fn owner(&self) -> &str {
        &self.claim.owner
    }

    /// Whether it is a warm worktree that was used before.
    pub fn recycled(&self) -> bool {
        self.recycled
    }

    /// The paths that were copied into it and must not get into the repository.
    pub fn private(&self) -> &[String] {
        &self.claim.private
    }

    /// Notes, before they are copied, the paths that must not get into the repository, so that whoever takes the
    /// workspace over knows them too.
    pub fn note_private(&mut self, paths: &[String]) -> Result<(), WorkspaceError> {
        let mut claim = self.claim.clone();
        claim.private.extend_from_slice(paths);
        claim.private.sort();
        claim.private.dedup();
        self.held.write_claim(&claim)?;
        self.claim = claim;
        Ok(())
    }

    /// The checkout, for snapshots and commits. What an agent did to its connection with the repository (a deleted
    /// `.git`, a pruned worktree) is put right first.
    pub fn checkout(&self) -> Result<Checkout, GitError> {
        clean::mend(&self.checkout, &self.claim.branch)?;
        Ok(self.checkout.clone())
    }
}
