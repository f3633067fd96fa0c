//! One place for a worktree: its folder, its lock, its note.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::fingerprint::changed_at;
use super::{Area, WorkspaceError};
use crate::git::gitdir::is_absence;
use crate::git::oid::Oid;
use crate::lock::Exclusive;
use crate::process::Identity;

/// More worktrees than any machine works in at once.
const MAX_SLOTS: usize = 10_000;

/// The extension of the note of a slot that was given back, which is also where the next one is written.
const FREED_EXTENSION: &str = "json.new";

/// The extension of the note that keeps a path from being used again. It says in which boot it was written.
const QUARANTINED_EXTENSION: &str = "quarantined";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SlotPhase {
    /// Being prepared: no agent has been there yet, so there is nothing to keep.
    Opening,
    /// The run uses it.
    Open,
    /// Given back: all work is kept elsewhere.
    Releasing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SlotClaim {
    pub(super) owner: String,
    pub(super) branch: String,
    pub(super) phase: SlotPhase,
    /// Where the run began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<Oid>,
    /// Where we left the branch in the user's repository; `None` if it is not there yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) published: Option<Oid>,
    /// Where we were about to bring it when this was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) intended: Option<Oid>,
    /// The branch existed before its task: it only ever gets commits on top of `at`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) forward_only: bool,
    /// Commits that are held in the user's repository for this workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) held: Vec<Oid>,
    /// Only in notes of an earlier version: the workspace is a linked worktree of the user's repository, and this is its
    /// git directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) git_dir: Option<PathBuf>,
    /// It was such a worktree, and does not belong to the user's repository any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) was_linked: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) private: Vec<String>,
}

/// A place for a worktree, as seen from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    pub path: PathBuf,
    pub state: SlotState,
    pub live: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SlotState {
    Free,
    Claimed {
        owner: String,
        branch: String,
    },
    /// The note beside it cannot be read. Such a slot is never used again and never removed by itself.
    Damaged,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SlotPlace {
    pub(super) path: PathBuf,
}

impl SlotPlace {
    pub(super) fn beside(&self, extension: &str) -> PathBuf {
        self.path.with_extension(extension)
    }

    pub(super) fn claim(&self) -> Result<Option<SlotClaim>, WorkspaceError> {
        let path = self.beside("json");
        match fs::read(&path) {
            Ok(bytes) => {
                serde_json::from_slice(&bytes).map(Some).map_err(|_| WorkspaceError::DamagedClaim { path })
            }
            Err(error) if is_absence(&error) => Ok(None),
            Err(error) => Err(WorkspaceError::io(&path)(error)),
        }
    }

    /// Whether processes may be alive that know this path and cannot be found: until the machine is restarted.
    pub(super) fn is_quarantined(&self) -> bool {
        let note = self.beside(QUARANTINED_EXTENSION);
        match fs::read_to_string(&note) {
            Ok(boot) if boot.trim() != Identity::current_boot() => fs::remove_file(&note).is_err(),
            Err(error) => !is_absence(&error),
            Ok(_) => true,
        }
    }

    /// Whether a run has it.
    pub(super) fn has_note(&self) -> bool {
        self.beside("json").exists()
    }

    /// When a run gave it back last, in the nanoseconds of the file system; `None` if none ever had it.
    pub(super) fn given_back_at(&self) -> Option<i128> {
        Some(changed_at(&fs::metadata(self.beside(FREED_EXTENSION)).ok()?))
    }

    /// Whether it can be used: there is a folder, no run has it, and it is not in quarantine.
    pub(super) fn is_free(&self) -> bool {
        !self.has_note() && self.path.exists() && !self.is_quarantined()
    }

    /// Locks the slot; `None` if a living process has it and keeps it. One that merely looks has it for a moment.
    pub(super) fn hold_after_wait(&self) -> Result<Option<HeldSlot>, WorkspaceError> {
        for _ in 0..40 {
            if let Some(held) = self.try_hold()? {
                return Ok(Some(held));
            }
            thread::sleep(Duration::from_millis(10));
        }
        self.try_hold()
    }

    /// Locks the slot; `None` if a living process has it.
    pub(super) fn try_hold(&self) -> Result<Option<HeldSlot>, WorkspaceError> {
        let path = self.beside("lock");
        let held = Exclusive::try_acquire(&path).map_err(WorkspaceError::io(&path))?;
        Ok(held.map(|lock| HeldSlot { place: self.clone(), lock }))
    }
}

/// A slot that this process has locked.
#[derive(Debug)]
pub(super) struct HeldSlot {
    pub(super) place: SlotPlace,
    lock: Exclusive,
}

impl HeldSlot {
    pub(super) fn path(&self) -> &Path {
        &self.place.path
    }

    /// The lock, to be given to a git that works in the slot: if we are killed, it goes on for a while, and the slot
    /// must not be touched until then.
    pub(super) fn shared_lock(&self) -> Result<File, WorkspaceError> {
        self.lock.share().map_err(WorkspaceError::io(&self.place.beside("lock")))
    }

    /// Writes the note, so that it is either the old one or the new one after a crash. That a run has the slot is on
    /// disk when this returns: without it, the next look would take the agent's work for rubbish. The other two may get
    /// lost with the power: before an agent was there, and after its work was kept, the slot can only be looked at again.
    pub(super) fn write_claim(&self, claim: &SlotClaim) -> Result<(), WorkspaceError> {
        let (path, new) = (self.place.beside("json"), self.place.beside(FREED_EXTENSION));
        let written = (|| {
            let bytes = serde_json::to_vec(claim)?;
            let mut options = OpenOptions::new();
            let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&new)?;
            file.write_all(&bytes)?;
            file.sync_all()?;
            fs::rename(&new, &path)?;
            if claim.phase == SlotPhase::Open { sync_folder(&path) } else { Ok(()) }
        })();
        written.map_err(WorkspaceError::io(&path))
    }

    /// When the note was written, in the nanoseconds of the file system.
    pub(super) fn noted_at(&self) -> Option<i128> {
        Some(changed_at(&fs::metadata(self.place.beside("json")).ok()?))
    }

    /// What the last holder left in the lock file.
    pub(super) fn content(&self) -> Option<Vec<u8>> {
        self.lock.content().ok()
    }

    /// Writes something into the lock file. A failure does no harm.
    pub(super) fn say(&self, bytes: &[u8]) {
        let _ = self.lock.write(bytes);
    }

    /// Keeps this path from being used before the machine restarts.
    pub(super) fn quarantine(&self) -> Result<(), WorkspaceError> {
        let note = self.place.beside(QUARANTINED_EXTENSION);
        fs::write(&note, Identity::current_boot()).map_err(WorkspaceError::io(&note))
    }

    /// Removes the note: the slot is free as soon as the lock is. Its file is kept for the next note: file systems take
    /// their time over new files where many were deleted.
    pub(super) fn remove_claim(&self) -> Result<(), WorkspaceError> {
        let path = self.place.beside("json");
        match fs::rename(&path, self.place.beside(FREED_EXTENSION)) {
            Err(error) if !is_absence(&error) => Err(WorkspaceError::io(&path)(error)),
            _ => Ok(()),
        }
    }
}

/// The commits that the workspace at this path was made from; `None` if no run has it.
pub(in crate::git) fn claimed_commits(path: &Path) -> Result<Option<Vec<Oid>>, WorkspaceError> {
    let claim = SlotPlace { path: path.to_owned() }.claim()?;
    Ok(claim.map(|claim| claim.at.into_iter().chain(claim.published).chain(claim.held).collect()))
}

fn sync_folder(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

impl Area {
    pub fn slots(&self) -> Result<Vec<Slot>, WorkspaceError> {
        let slot = |place: SlotPlace| {
            let live = place.try_hold()?.is_none();
            let state = match place.claim() {
                Ok(None) => SlotState::Free,
                Ok(Some(claim)) => SlotState::Claimed { owner: claim.owner, branch: claim.branch },
                Err(WorkspaceError::DamagedClaim { .. }) => SlotState::Damaged,
                Err(error) => return Err(error),
            };
            Ok(Slot { path: place.path, state, live })
        };
        self.places()?.into_iter().map(slot).collect()
    }

    /// The slots that have a folder or a note.
    pub(super) fn places(&self) -> Result<Vec<SlotPlace>, WorkspaceError> {
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if is_absence(&error) => return Ok(Vec::new()),
            Err(error) => return Err(WorkspaceError::io(&self.dir)(error)),
        };
        let mut numbers = Vec::new();
        for entry in entries {
            let name = entry.map_err(WorkspaceError::io(&self.dir))?.file_name();
            let name = name.to_str().unwrap_or_default();
            numbers.extend(slot_number(name.strip_suffix(".json").unwrap_or(name)));
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers.into_iter().map(|number| self.place(number)).collect())
    }

    pub(super) fn hold_empty(&self) -> Result<HeldSlot, WorkspaceError> {
        for number in 1..=MAX_SLOTS {
            let place = self.place(number);
            let is_taken =
                |place: &SlotPlace| place.path.exists() || place.has_note() || place.is_quarantined();
            if is_taken(&place) {
                continue;
            }
            if let Some(held) = place.try_hold()?
                && !is_taken(&place)
            {
                return Ok(held);
            }
        }
        Err(WorkspaceError::TooMany(MAX_SLOTS))
    }

    fn place(&self, number: usize) -> SlotPlace {
        SlotPlace { path: self.dir.join(format!("w{number}")) }
    }

    /// Makes the folders, for the user alone.
    pub(super) fn make_folders(&self) -> Result<(), WorkspaceError> {
        for folder in [&self.dir, &self.trash] {
            let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(WorkspaceError::io(folder))?;
        }
        Ok(())
    }
}

fn slot_number(name: &str) -> Option<usize> {
    let number = name.strip_prefix('w')?.parse().ok()?;
    (format!("w{number}") == name).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_names_are_slots() {
        assert_eq!(slot_number("w12"), Some(12));
        for other in ["w", "w01", "w+1", "x1", "w1.lock", "w1.json.new", ".trash"] {
            assert_eq!(slot_number(other), None, "{other}");
        }
    }
}
