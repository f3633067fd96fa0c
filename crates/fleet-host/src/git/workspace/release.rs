//! Giving workspaces back, and taking over those of the dead.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use fleet_core::time::Millis;

use super::clean;
use super::linked;
use super::occupied::OccupancyCheck;
use super::register;
use super::slot::{HeldSlot, SlotClaim, SlotPhase, SlotPlace};
use super::untouched::{self, UsedWorktree};
use super::{Area, KeepFiles, Slot, SlotState, Workspace, WorkspaceError};
use crate::copy::remove_below;
use crate::git::checkout::Checkout;
use crate::git::gitdir::is_absence;
use crate::git::oid::Oid;
use crate::git::refs;

impl Workspace {
    /// Gives the worktree back to the pool, proven clean, or moves it aside.
    ///
    /// The caller has stopped whatever worked in it, and has kept what is in it (a commit, a snapshot): from here on
    /// it counts as rubbish.
    pub fn release(mut self) -> Result<(), WorkspaceError> {
        self.claim.phase = SlotPhase::Releasing;
        self.held.write_claim(&self.claim)?;
        self.area.finish_release(&self.held, &self.claim, UsedWorktree::Somehow)
    }

    /// Frees the slot without its folder, which goes to the trash: for one that has become too large to be cleaned. What
    /// is in it was kept, as for [`release`](Self::release).
    pub fn retire(mut self) -> Result<(), WorkspaceError> {
        self.claim.phase = SlotPhase::Releasing;
        self.held.write_claim(&self.claim)?;
        self.area.give_back(&self.held, None, UsedWorktree::Somehow)
    }

    /// The path of this workspace is not used again before the machine restarts: a process that cannot be found may
    /// still write to it. Its folder is not recycled when it is given back; such a process moves with it.
    pub fn quarantine(&self) -> Result<(), WorkspaceError> {
        self.held.quarantine()
    }

    /// Frees the slot, and moves the worktree as it is into a folder that is never emptied: for files that no snapshot
    /// can take.
    pub fn set_aside(self, folder: &Path) -> Result<(), WorkspaceError> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(WorkspaceError::io(folder))?;
        // After a kill between the move and this, a take-over finds the folder gone, and frees the slot.
        let (area, path) = (Area { trash: folder.to_owned(), ..self.area.clone() }, self.held.path());
        let left = linked::move_along(&area, path)?;
        if let Some(moved_to) = area.move_aside(path)? {
            left.iter().try_for_each(|git_dir| linked::follow(git_dir, &moved_to))?;
        }
        register::unregister(&area, path)?;
        self.held.remove_claim()
    }
}

impl Area {
    /// Takes over the workspace of a run whose process has died. `None` if the run has none, or none in which an
    /// agent could have left anything: one that was killed while it was prepared or given back is cleared here.
    pub fn adopt(&self, owner: &str) -> Result<Option<Workspace>, WorkspaceError> {
        for place in self.places()? {
            if !is_of(&place, owner)? {
                continue;
            }
            let Some(held) = place.hold_after_wait()? else {
                return Err(WorkspaceError::InUse { owner: owner.to_owned() });
            };
            // Under the lock it may be gone, or another's.
            let Some(claim) = place.claim()?.filter(|claim| claim.owner == owner) else { continue };
            let claim = match claim.git_dir {
                Some(_) if claim.phase == SlotPhase::Open => linked::take_over(self, &held, claim)?,
                _ => claim,
            };
            let claim = self.settled(claim);
            if claim.phase != SlotPhase::Open {
                self.finish_release(&held, &claim, UsedWorktree::Somehow)?;
                continue;
            }
            let vault = self.known_vault();
            let checkout = register::checkout(&vault, &place.path);
            return Ok(Some(Workspace {
                area: self.clone(),
                vault,
                held,
                published: Mutex::new(claim.published.clone()),
                collecting: Mutex::default(),
                claim,
                checkout,
                recycled: false,
                index: None,
                repo: None,
                print: None,
            }));
        }
        Ok(None)
    }

    /// The note of a dead process, with the branch where that process left it.
    fn settled(&self, mut claim: SlotClaim) -> SlotClaim {
        let at = refs::branch_commit(&self.repo, &claim.branch).ok().flatten();
        match claim.intended.take() {
            Some(intended) if at.as_ref() == Some(&intended) => claim.published = at,
            _ => {}
        }
        claim
    }

    /// Moves free worktrees aside that are more than the pool keeps and were given back before this moment. How many those
    /// were.
    pub fn trim(&self, before: Millis) -> Result<usize, WorkspaceError> {
        let before = i128::from(before.0) * 1_000_000;
        let free: Vec<SlotPlace> = self.places()?.into_iter().filter(|place| !place.has_note()).collect();
        let spare = free.len().saturating_sub(self.pool);
        let mut moved = 0;
        // Runs take the first ones first.
        for place in free.iter().rev().filter(|place| place.given_back_at().is_none_or(|at| at < before)) {
            if moved == spare {
                break;
            }
            let Some(held) = place.try_hold()? else { continue };
            if !place.has_note() {
                self.discard(&held)?;
                moved += 1;
            }
        }
        Ok(moved)
    }

    /// Moves one free or damaged worktree aside. False if it is a run's or in use.
    pub fn remove(&self, slot: &Slot) -> Result<bool, WorkspaceError> {
        let Some(place) = self.places()?.into_iter().find(|place| place.path == slot.path) else {
            return Ok(false);
        };
        let Some(held) = place.try_hold()? else { return Ok(false) };
        match (&slot.state, place.claim()) {
            (SlotState::Free, Ok(None)) | (SlotState::Damaged, Err(WorkspaceError::DamagedClaim { .. })) => {}
            (_, Ok(_) | Err(WorkspaceError::DamagedClaim { .. })) => return Ok(false),
            (_, Err(error)) => return Err(error),
        }
        self.discard(&held)?;
        held.remove_claim()?;
        Ok(true)
    }

    pub(super) fn finish_release(
        &self,
        held: &HeldSlot,
        claim: &SlotClaim,
        used: UsedWorktree<'_>,
    ) -> Result<(), WorkspaceError> {
        if self.keep == KeepFiles::Ignored {
            remove_private(held.path(), &claim.private);
        }
        let checkout = clean::connected(&self.known_vault(), held.path()).filter(|_| !claim.was_linked);
        self.give_back(held, checkout.as_ref().map(|checkout| (checkout, claim.at.as_ref())), used)
    }

    /// Makes a slot free again: with its worktree, at the commit where it began, if that can be proven clean and is
    /// wanted, else without.
    pub(super) fn give_back(
        &self,
        held: &HeldSlot,
        checkout: Option<(&Checkout, Option<&Oid>)>,
        used: UsedWorktree<'_>,
    ) -> Result<(), WorkspaceError> {
        let is_tidy = |checkout: &Checkout| match used {
            UsedWorktree::Somehow => Ok(false),
            UsedWorktree::NotAtAll(seen) => untouched::tidy(self, held, checkout, seen),
        };
        let reusable = match checkout {
            Some((checkout, at)) if !held.place.is_quarantined() && self.has_room()? => {
                is_tidy(checkout).unwrap_or(false)
                    || clean::scrub(self, held, (checkout, at)).unwrap_or(false)
            }
            _ => false,
        };
        if !reusable {
            self.discard(held)?;
        }
        held.remove_claim()
    }

    /// Whether the pool can take one more. Those that are in use do not count: no run can get them.
    fn has_room(&self) -> Result<bool, WorkspaceError> {
        let free: Vec<_> = self.places()?.into_iter().filter(SlotPlace::is_free).collect();
        if free.len() < self.pool {
            return Ok(true);
        }
        let mut strangers = OccupancyCheck::default();
        Ok(free.iter().filter(|place| !strangers.are_in(place)).count() < self.pool)
    }

    /// Moves the folder of a slot aside, and what we know about it.
    pub(super) fn discard(&self, held: &HeldSlot) -> Result<(), WorkspaceError> {
        linked::forget(self, held.path())?;
        self.move_aside(held.path())?;
        register::unregister(self, held.path())
    }

    /// Moves a file or folder into the trash. Where it is then; `None` if it is not there.
    pub(super) fn move_aside(&self, path: &Path) -> Result<Option<PathBuf>, WorkspaceError> {
        // A folder that cannot be written cannot be moved into another one either. If this fails, so does the move.
        let _ = super::trash::open_up(path);
        for attempt in 0_u64.. {
            let target = self.trash.join(format!("{}-{attempt}", super::trash::unique_name(path)));
            match super::trash::rename_new(path, &target) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) if is_absence(&error) && fs::symlink_metadata(path).is_err() => return Ok(None),
                // It was emptied with the folder.
                Err(error) if is_absence(&error) && attempt == 0 => self.make_folders()?,
                answer => return answer.map(|()| Some(target)).map_err(WorkspaceError::io(path)),
            }
        }
        Ok(None)
    }
}

fn is_of(place: &SlotPlace, owner: &str) -> Result<bool, WorkspaceError> {
    match place.claim() {
        Ok(claim) => Ok(claim.is_some_and(|claim| claim.owner == owner)),
        Err(WorkspaceError::DamagedClaim { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes copied credentials that would otherwise stay with the ignored files. One that cannot be removed is found
/// again by the next copy, which replaces it.
fn remove_private(root: &Path, private: &[String]) {
    for path in private {
        let _ = remove_below(root, path);
    }
}
