//! Workspaces: for each run its own folder and repository, from a pool of warm ones.
//!
//! Owns the folder of a project's workspaces ("slots"), who has which of them, and their way from clean to used to
//! clean again. What is in the `.git` of a workspace belongs to the agent; what we know about its files is in the vault,
//! where each slot has an administrative folder. Each slot is a folder `w1` with two files beside it:
//!
//! - `w1.lock` is locked by the process that works with the slot, and by every git that it started there: a slot is
//!   free again only when all of them have ended, however they ended;
//! - `w1.json` says which run has the slot and how far it got. It is on disk before anything is changed and goes last,
//!   so that a killed process leaves a note, never a riddle.
//!
//! A third, `w1.quarantined`, is there where a run ended whose processes may not all have been found: no run gets that
//! path until the machine is restarted, so that what they write there gets into no run's work. `occupied` says who was
//! seen in the folders a moment ago.
//!
//! Must never hand out a slot that was not proven clean a moment ago or that is in use, never delete anything of a slot
//! that has an owner, and never delete in the way of a user: what cannot be used again is moved aside.

mod agent_repo;
mod clean;
mod collect;
mod fingerprint;
mod given;
mod hazards;
mod inside;
mod linked;
mod modes;
mod object_transfer;
mod occupied;
mod open;
mod publishing;
mod register;
mod release;
mod reopen;
mod seen;
mod size;
mod slot;
mod sparse;
mod trash;
mod untouched;
mod worktrees;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use super::checkout::Checkout;
use super::error::GitError;
use super::files::{self, Tip};
use super::oid::Oid;
use super::refs;
use super::stamp::Stamp;
use super::vault::Vault;
use crate::stop_flag::StopFlag;

use self::agent_repo::AgentRepo;
use self::clean::CHECKOUT_TIMEOUT;
use self::fingerprint::Fingerprint;
use self::slot::{HeldSlot, SlotClaim};

pub(in crate::git) use self::clean::set_head;
pub use self::collect::{Collected, CommitMarks, OtherWork};
pub use self::inside::{Surrounding, surrounding};
pub use self::occupied::OccupiedSlot;
pub use self::seen::SeenWorkspace;
pub(in crate::git) use self::slot::claimed_commits;
pub use self::slot::{Slot, SlotState};
pub(in crate::git) use self::trash::rename_new;
pub use self::trash::{Emptied, Pace, empty_trash, move_to_trash};
pub use self::untouched::Untouched;

/// The workspaces of one project. All paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Area {
    /// The git common directory of the project, which is the user's.
    pub repo: PathBuf,
    /// Our own git directory for the project.
    pub vault: PathBuf,
    /// The folder that holds the workspaces, of this project alone.
    pub dir: PathBuf,
    /// Where worktrees go that are not used any more, on the same file system.
    pub trash: PathBuf,
    /// How many free worktrees are kept warm.
    pub pool: usize,
    pub keep: KeepFiles,
}

/// What a worktree keeps between runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepFiles {
    /// Nothing but the tracked files.
    Nothing,
    /// Files that git ignores, such as installed packages and build caches. Quick, and a way from one run to
    /// another: for projects whose owner wants that.
    Ignored,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartAt {
    /// A new branch at this commit; the name must be free.
    New(Oid),
    /// An existing branch: of an earlier attempt, or of the user, who named it.
    Continue,
}

#[derive(Debug, Clone)]
pub struct OpenRequest {
    pub owner: String,
    pub branch: String,
    pub start: StartAt,
    /// Whether the branch existed before its task: then it only ever gets commits on top of where the run began.
    pub forward_only: bool,
    /// What a start that only the vault has was made of: held in the user's repository as long as it is needed.
    pub borrowed: Vec<Oid>,
    /// The folder that is taken if it is free.
    pub preferred: Option<PathBuf>,
    /// How long the submodules may take to be checked out.
    pub submodule_time: Duration,
    /// Ends what takes long: writing files, and fetching.
    pub stop: StopFlag,
}

impl OpenRequest {
    pub fn new(owner: impl Into<String>, branch: impl Into<String>, start: StartAt) -> Self {
        Self {
            owner: owner.into(),
            branch: branch.into(),
            start,
            forward_only: false,
            borrowed: Vec::new(),
            preferred: None,
            submodule_time: CHECKOUT_TIMEOUT,
            stop: StopFlag::default(),
        }
    }
}

/// A workspace that belongs to a run. Dropped without [`release`](Workspace::release), it stays the run's, to be
/// taken over by [`Area::adopt`].
#[derive(Debug)]
pub struct Workspace {
    area: Area,
    vault: Vault,
    held: HeldSlot,
    claim: SlotClaim,
    /// Where we left the branch in the user's repository.
    published: Mutex<Option<Oid>>,
    /// Locked while the agent's repository is read: the commits that only its log knew and that were seen to already.
    collecting: Mutex<BTreeSet<Oid>>,
    checkout: Checkout,
    recycled: bool,
    /// The agent's index when the workspace was opened.
    index: Option<Stamp>,
    /// The agent's repository as it was made; unknown after a take-over.
    repo: Option<AgentRepo>,
    /// Its files when it was opened, if known.
    print: Option<Fingerprint>,
}

#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("there is no branch {branch:?} to continue; add the task again")]
    NoSuchBranch { branch: String },
    /// The branch is checked out by someone else.
    #[error(
        "the branch {branch:?} is checked out at {}; switch to another one there first",
        .place.display()
    )]
    BranchInUse { branch: String, place: PathBuf },
    /// The submodules could not be checked out.
    #[error(
        "the submodules of the project cannot be checked out; try `git submodule update --init --recursive`"
    )]
    Submodules(#[source] GitError),
    #[error(
        "`git submodule update` did not end within {} s; raise `workspaces.submodule_time`, or look with `git submodule \
         update --init --recursive` what it waits for",
        .after.as_secs()
    )]
    SubmodulesTimedOut { after: Duration },
    #[error("the workspace of {owner:?} is in use by a living process; stop that first")]
    InUse { owner: String },
    #[error("{} is damaged; look at the folder next to it, save what you need and remove both", .path.display())]
    DamagedClaim { path: PathBuf },
    #[error("there are more than {0} worktrees in use")]
    TooMany(usize),
    #[error("cannot use {}", .path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl WorkspaceError {
    /// Whether it stays so until a person changes something.
    pub fn needs_a_person(&self) -> bool {
        match self {
            Self::Git(error) | Self::Submodules(error) => error.needs_a_person(),
            Self::SubmodulesTimedOut { .. } => true,
            _ => false,
        }
    }

    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), source }
    }
}

impl Workspace {
    pub fn area(&self) -> &Area {
        &self.area
    }

    /// Where our own `HEAD` is: at the start, at the agent's last commit that we know, or at what we committed for it.
    pub fn head(&self) -> Result<Oid, GitError> {
        refs::head_commit(&self.checkout.git_dir)
    }

    pub fn path(&self) -> &Path {
        &self.checkout.work_tree
    }

    pub fn branch(&self) -> &str {
        &self.claim.branch
    }

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

    /// Notes, before they are copied, the paths that must not get into the repository, so that they are known after a
    /// take-over.
    pub fn note_private(&mut self, paths: &[String]) -> Result<(), WorkspaceError> {
        let mut claim = SlotClaim { published: self.published(), ..self.claim.clone() };
        claim.private.extend_from_slice(paths);
        claim.private.sort();
        claim.private.dedup();
        self.held.write_claim(&claim)?;
        self.claim = claim;
        Ok(())
    }

    /// The checkout, for snapshots and commits: its files with our own index and `HEAD`.
    pub fn checkout(&self) -> Result<Checkout, GitError> {
        if !clean::is_real_folder(&self.checkout.work_tree) {
            let why = "the folder is gone, or something else is in its place".to_owned();
            return Err(GitError::NotACheckout { path: self.checkout.work_tree.clone(), why });
        }
        self.recreate_missing()?;
        Ok(self.checkout.clone())
    }

    /// Makes our own side of the workspace again where it was lost: removed by hand, or with the power.
    fn recreate_missing(&self) -> Result<(), GitError> {
        let (git_dir, at) = (&self.checkout.git_dir, self.claim.at.as_ref());
        match files::head_commit(git_dir) {
            Some(Tip::At(_)) => Ok(()),
            _ if !git_dir.exists() => match at {
                Some(at) => register::register(&self.vault, self.path(), at).map(drop),
                None => Err(GitError::Unborn { repo: git_dir.clone() }),
            },
            _ => at.map_or(Ok(()), |at| set_head(&self.checkout, at)),
        }
    }
}

impl Area {
    /// The vault as it is, whether or not the user's repository is still there.
    fn known_vault(&self) -> Vault {
        Vault { dir: self.vault.clone(), repo: self.repo.clone() }
    }

    /// Whether a place is one of this project's workspaces. It need not be there any more.
    fn is_ours(&self, place: &Path) -> bool {
        let canonical = |path: &Path| std::fs::canonicalize(path).ok();
        place.parent().and_then(canonical).is_some_and(|folder| canonical(&self.dir) == Some(folder))
    }
}
