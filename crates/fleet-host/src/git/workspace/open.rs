//! Opening a workspace: recycling a warm one, or making a new one.

use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use super::agent_repo::AgentRepo;
use super::clean::{self, CHECKOUT_TIMEOUT};
use super::fingerprint::Fingerprint;
use super::occupied::OccupancyCheck;
use super::register::register;
use super::slot::{HeldSlot, SlotClaim, SlotPhase};
use super::trash::open_up;
use super::{Area, KeepFiles, OpenRequest, StartAt, Workspace, WorkspaceError, given, hazards};
use crate::git::checkout::Checkout;
use crate::git::command::{Answer, Git};
use crate::git::error::GitError;
use crate::git::files::{self, Tip};
use crate::git::oid::Oid;
use crate::git::publish::place_in_use;
use crate::git::refs::{self, branch_commit, branch_conflict};
use crate::git::stamp::Stamp;
use crate::git::vault::{AgentRefs, Vault};
use crate::stop_flag::StopFlag;

#[derive(Debug)]
pub(super) struct OpenStart {
    pub(super) vault: Vault,
    pub(super) given: AgentRefs,
    /// The full name of the branch.
    pub(super) name: String,
    pub(super) at: Oid,
    pub(super) claim: SlotClaim,
    submodule_time: Duration,
    stop: StopFlag,
}

/// The result of trying a warm workspace.
enum Recycled {
    Ready(Checkout, Option<Fingerprint>),
    /// It is not as it should be. It stays as it is, so that a person can look at it.
    Unfit,
    /// Files that the user's repository left out cannot be had now. The workspace is not at fault.
    NotFetched(WorkspaceError),
}

impl Area {
    /// Opens a workspace on a branch: clean, with the files of the branch and no others, and its own repository.
    /// One that is in use, by a person or by what an agent left running, is skipped.
    ///
    /// A warm workspace that is as it was left costs no git process, another one two; a new one costs one, which writes
    /// all files. The user's repository is not changed, but for the commits that are held in it. A process that is killed
    /// in here leaves a slot that [`adopt`](Area::adopt) clears or hands out with nothing in it.
    pub fn open(&self, open: &OpenRequest) -> Result<Workspace, WorkspaceError> {
        // Neither waits for the other, and both take milliseconds.
        let (start, mut strangers) = thread::scope(|scope| {
            let strangers = scope.spawn(|| OccupancyCheck::in_free_places(self));
            (self.start(open), strangers.join().unwrap_or_default())
        });
        let start = start?;
        self.make_folders()?;
        let mut places = self.places()?;
        places.sort_by_key(|place| Some(&place.path) != open.preferred.as_ref());
        for place in places.into_iter().filter(|place| !place.has_note()) {
            let Some(held) = place.try_hold()? else { continue };
            // Only under the lock is the absence of a note worth anything.
            if !place.is_free() || strangers.are_in(&place) {
                continue;
            }
            let held = match self.reopen(held, &start)? {
                Ok(workspace) => return Ok(workspace),
                Err(held) => held,
            };
            held.write_claim(&start.claim)?;
            match self.recycle(&held, &start) {
                Ok(Recycled::Ready(checkout, print)) => {
                    return self.finish(held, &start, ReadyWorkspace { checkout, is_recycled: true, print });
                }
                Ok(Recycled::Unfit) => {
                    self.discard(&held)?;
                    held.remove_claim()?;
                }
                Ok(Recycled::NotFetched(error)) => {
                    held.remove_claim()?;
                    return Err(error);
                }
                // The next attempt gets another one, whatever is wrong with this.
                Err(error) => {
                    self.discard(&held)?;
                    held.remove_claim()?;
                    return Err(error);
                }
            }
        }
        let held = self.hold_empty()?;
        held.write_claim(&start.claim)?;
        match self.create(&held, &start) {
            Ok(checkout) => {
                self.finish(held, &start, ReadyWorkspace { checkout, is_recycled: false, print: None })
            }
            Err(error) => {
                self.discard(&held)?;
                held.remove_claim()?;
                Err(error)
            }
        }
    }

    /// Looks whether the branch can be had, and holds what the workspace will borrow.
    pub(super) fn start(&self, open: &OpenRequest) -> Result<OpenStart, WorkspaceError> {
        let name = refs::full_name(&open.branch)?;
        let vault = Vault::of(&self.repo, &self.vault)?;
        let (at, published) = match &open.start {
            StartAt::New(at) => {
                self.check_free(&open.branch, &name)?;
                (at.clone(), None)
            }
            StartAt::Continue => {
                let tip = self.tip_to_continue(&open.branch, &name)?;
                (tip.clone(), Some(tip))
            }
        };
        let held = hold_all(&vault, &at, &open.borrowed)?;
        let given = AgentRefs::now(&vault)?;
        let claim = SlotClaim {
            owner: open.owner.clone(),
            branch: open.branch.clone(),
            phase: SlotPhase::Opening,
            at: Some(at.clone()),
            published,
            intended: None,
            forward_only: open.forward_only,
            held,
            git_dir: None,
            was_linked: false,
            private: Vec::new(),
        };
        let (submodule_time, stop) = (open.submodule_time, open.stop.clone());
        Ok(OpenStart { vault, given, name, at, claim, submodule_time, stop })
    }

    fn check_free(&self, branch: &str, name: &str) -> Result<(), WorkspaceError> {
        if files::is_name_free(&self.repo, name) {
            return Ok(());
        }
        match branch_conflict(&self.repo, branch)? {
            Some(why) => Err(GitError::BranchTaken { branch: branch.to_owned(), why }.into()),
            None => Ok(()),
        }
    }

    /// Where an existing branch is. One that a person has checked out or rebases could not be moved at the
    /// end.
    fn tip_to_continue(&self, branch: &str, name: &str) -> Result<Oid, WorkspaceError> {
        if let Some(place) = place_in_use(&self.repo, name)?.filter(|place| !self.is_ours(place)) {
            return Err(WorkspaceError::BranchInUse { branch: branch.to_owned(), place });
        }
        let tip = branch_commit(&self.repo, branch)?;
        tip.ok_or_else(|| WorkspaceError::NoSuchBranch { branch: branch.to_owned() })
    }

    /// Brings a warm workspace to the commit, without force: what does not belong there must come to light.
    fn recycle(&self, held: &HeldSlot, start: &OpenStart) -> Result<Recycled, WorkspaceError> {
        let Some(checkout) = clean::connected(&start.vault, held.path()) else { return Ok(Recycled::Unfit) };
        clean::purge(&checkout)?;
        if !hazards::has_none(self.keep, &checkout, start.at.as_str())? {
            return Ok(Recycled::Unfit);
        }
        let was_at = files::head_commit(&checkout.git_dir);
        if was_at != Some(Tip::At(start.at.clone())) {
            if start.vault.is_partial()
                && let Err(error) = fetch_changed_files(held, was_at, start)
            {
                return Ok(Recycled::NotFetched(error));
            }
            let switched = switch(held, &checkout, start, &[])?;
            if switched.code != Some(0) {
                refs::resolve_commit(&start.vault.dir, start.at.as_str())?;
                return Ok(Recycled::Unfit);
            }
        }
        // Before it is proven clean: what changes after that changes the print.
        let now = held.noted_at().filter(|_| self.keep == KeepFiles::Nothing);
        let print = now.and_then(|now| Fingerprint::settled(&checkout.work_tree, now));
        if !clean::is_clean(&checkout, self.keep)? {
            return Ok(Recycled::Unfit);
        }
        Ok(Recycled::Ready(checkout, print))
    }

    /// Makes a new workspace.
    fn create(&self, held: &HeldSlot, start: &OpenStart) -> Result<Checkout, WorkspaceError> {
        // A folder that was removed by hand still has an administrative one.
        self.discard(held)?;
        std::fs::create_dir(held.path()).map_err(WorkspaceError::io(held.path()))?;
        let checkout = register(&start.vault, held.path(), &start.at)?;
        if start.vault.is_partial() && !fetch_files(held, &checkout, start)? {
            fetch_changed_files(held, None, start)?;
        }
        // With force: the workspace is empty, which looks as if all its files had been removed.
        let switched = switch(held, &checkout, start, &["--force"])?;
        if switched.code != Some(0) {
            refs::resolve_commit(&start.vault.dir, start.at.as_str())?;
            return Err(switched.failure().into());
        }
        Ok(checkout)
    }

    pub(super) fn finish(
        &self,
        held: HeldSlot,
        start: &OpenStart,
        ready: ReadyWorkspace,
    ) -> Result<Workspace, WorkspaceError> {
        let ReadyWorkspace { checkout, is_recycled, print } = ready;
        let (repo, is_new) = match self.equip(&checkout, start) {
            Ok(equipped) => equipped,
            Err(error) => {
                // Back in the pool, it would fail every run.
                self.discard(&held)?;
                held.remove_claim()?;
                return Err(error);
            }
        };
        if checkout.work_tree.join(".gitmodules").is_file()
            && let Err(error) = update_submodules(&held, &checkout, start)
        {
            self.discard(&held)?;
            held.remove_claim()?;
            return Err(error);
        }
        // Once more, now that the workspace is known: a cleanup at the same time may not have seen it.
        start.claim.held.iter().try_for_each(|commit| start.vault.hold(commit))?;
        let mut claim = start.claim.clone();
        claim.phase = SlotPhase::Open;
        held.write_claim(&claim)?;
        let index = Stamp::of(&checkout.work_tree.join(".git/index"));
        Ok(Workspace {
            area: self.clone(),
            vault: start.vault.clone(),
            held,
            published: Mutex::new(claim.published.clone()),
            collecting: Mutex::default(),
            claim,
            checkout,
            recycled: is_recycled,
            index,
            repo: Some(repo),
            // A new repository in the folder changes the looks of it.
            print: print.filter(|_| !is_new),
        })
    }

    /// Gives the workspace its repository, and notes what is in it. Whether it is a new one.
    pub(super) fn equip(
        &self,
        checkout: &Checkout,
        start: &OpenStart,
    ) -> Result<(AgentRepo, bool), WorkspaceError> {
        given::note(checkout, &start.given)?;
        let index = checkout.git_dir.join("index");
        let places = (checkout.work_tree.as_path(), index.as_path());
        let repo = AgentRepo::new(&start.vault, &start.given, places, (&start.name, &start.at))?;
        if repo.ensure()? {
            return Ok((repo, false));
        }
        open_up(&checkout.work_tree).map_err(WorkspaceError::io(&checkout.work_tree))?;
        self.move_aside(&checkout.work_tree.join(".git"))?;
        repo.ensure()?;
        Ok((repo, true))
    }
}

/// A workspace whose files are in place.
pub(super) struct ReadyWorkspace {
    pub(super) checkout: Checkout,
    pub(super) is_recycled: bool,
    pub(super) print: Option<Fingerprint>,
}

/// Holds what a workspace borrows in the user's repository. A commit that is not there is in the vault: then those that
/// it was made of are held.
fn hold_all(vault: &Vault, at: &Oid, borrowed: &[Oid]) -> Result<Vec<Oid>, GitError> {
    let mut held = Vec::new();
    for commit in borrowed.iter().chain([at]) {
        match vault.hold(commit) {
            Ok(()) => held.push(commit.clone()),
            Err(GitError::NoSuchCommit { .. }) => {
                refs::resolve_commit(&vault.dir, commit.as_str())?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(held)
}

fn switch(
    held: &HeldSlot,
    checkout: &Checkout,
    start: &OpenStart,
    how: &[&str],
) -> Result<Answer, WorkspaceError> {
    let git = Git::within(checkout).with_filters().stdin(held.shared_lock()?);
    let git = git.patience(CHECKOUT_TIMEOUT).stop_flag(&start.stop);
    let git = git.args(["checkout", "--quiet", "--no-guess", "--detach"]).args(how);
    Ok(git.args([start.at.as_str(), "--"]).answer()?)
}

/// Writes the files with the user's own repository, which knows from where to fetch those that it left out. False if it
/// does not have the commit.
fn fetch_files(held: &HeldSlot, checkout: &Checkout, start: &OpenStart) -> Result<bool, WorkspaceError> {
    if !is_in(&start.vault.repo, &start.at)? {
        return Ok(false);
    }
    Git::about(&start.vault.repo)
        .with_transports()
        .env("GIT_WORK_TREE", &checkout.work_tree)
        .index(&checkout.git_dir.join("index"))
        .stdin(held.shared_lock()?)
        .patience(CHECKOUT_TIMEOUT)
        .stop_flag(&start.stop)
        .args(["read-tree", "--reset", "-u", start.at.as_str()])
        .run()?;
    Ok(true)
}

/// Makes the user's own repository fetch the files in which a commit differs from what a warm workspace has. Comparing
/// their content is how git is asked for all of them at once without touching a work tree. A commit that was made in the
/// vault has the files of those that it was made of.
fn fetch_changed_files(
    held: &HeldSlot,
    was_at: Option<Tip>,
    start: &OpenStart,
) -> Result<(), WorkspaceError> {
    let repo = &start.vault.repo;
    let from = match was_at {
        Some(Tip::At(commit)) if is_in(repo, &commit)? => commit,
        // The empty tree, which every git has.
        _ => Git::about(repo).args(["hash-object", "-t", "tree", "/dev/null"]).oid()?,
    };
    let is_there = is_in(repo, &start.at)?;
    let wanted = if is_there { std::slice::from_ref(&start.at) } else { start.claim.held.as_slice() };
    let compare = ["diff-tree", "-r", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv"];
    for commit in wanted {
        let git = Git::about(repo).with_transports().stdin(held.shared_lock()?);
        let git = git.patience(CHECKOUT_TIMEOUT).stop_flag(&start.stop);
        git.args(compare).args([from.as_str(), commit.as_str(), "--"]).feed(&mut |_| Ok(()))?;
    }
    Ok(())
}

fn is_in(repo: &Path, commit: &Oid) -> Result<bool, GitError> {
    match refs::resolve_commit(repo, commit.as_str()) {
        Ok(_) => Ok(true),
        Err(GitError::NoSuchCommit { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Checks the submodules out, with the repository that the agent will have and that is still untouched. Which
/// transports it may use is for the user's own configuration to say.
fn update_submodules(held: &HeldSlot, checkout: &Checkout, start: &OpenStart) -> Result<(), WorkspaceError> {
    let updated = Git::standing_in(&checkout.work_tree)
        .with_transports()
        .stdin(held.shared_lock()?)
        .patience(start.submodule_time)
        .stop_flag(&start.stop)
        .args(["submodule", "--quiet", "update", "--init", "--recursive"])
        .run();
    updated.map_err(|error| match error {
        GitError::TimedOut { after, .. } => WorkspaceError::SubmodulesTimedOut { after },
        error => WorkspaceError::Submodules(error),
    })
}
