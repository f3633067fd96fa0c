//! Free workspaces that processes still use.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::fingerprint::changed_at;
use super::slot::SlotPlace;
use super::{Area, WorkspaceError};
use crate::process::{self, Identity, Occupant, Occupants};

/// A free workspace that no run gets while these processes use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OccupiedSlot {
    pub path: PathBuf,
    pub occupants: Vec<Occupant>,
}

impl Area {
    /// The free workspaces that processes use. Nothing is changed.
    pub fn occupied(&self) -> Result<Vec<OccupiedSlot>, WorkspaceError> {
        let seen = Occupants::in_folders_of(&self.dir);
        let free = self.places()?.into_iter().filter(SlotPlace::is_free);
        let slots =
            free.map(|place| OccupiedSlot { occupants: seen.of(&place.path).to_vec(), path: place.path });
        Ok(slots.filter(|slot| !slot.occupants.is_empty()).collect())
    }
}

/// Finds out whether processes use workspaces that no run has.
#[derive(Debug, Default)]
pub(super) struct OccupancyCheck {
    scan: Option<Scan>,
}

impl OccupancyCheck {
    /// Scans at once if there is a free workspace and no recent scan.
    pub(super) fn in_free_places(area: &Area) -> Self {
        if !area.places().is_ok_and(|places| places.iter().any(SlotPlace::is_free)) {
            return Self::default();
        }
        Self { scan: Some(Scan::recent(&area.dir).unwrap_or_else(|| Scan::now(&area.dir))) }
    }

    /// The caller holds the place, so that no run can give it back meanwhile.
    pub(super) fn are_in(&mut self, place: &SlotPlace) -> bool {
        let folder = place.path.parent().unwrap_or(&place.path);
        let known = self.scan.take().filter(|scan| scan.tells_about(place));
        self.scan.insert(known.unwrap_or_else(|| Scan::now(folder))).found(place)
    }
}

/// One scan of all processes. It serves all who open a workspace within a second, so that many runs that start at once
/// cost one. People come and go more slowly; what a run leaves behind is found because only a scan that began after a
/// workspace was given back says anything about it.
#[derive(Debug, Serialize, Deserialize)]
struct Scan {
    boot: String,
    /// When it began, in the time since the boot. Some systems have no such time: there a scan serves only its own
    /// process.
    uptime: Option<Duration>,
    /// The same by the clock of the file system.
    began: i128,
    /// The names of the workspaces that were in use.
    used: BTreeSet<String>,
    #[serde(skip)]
    is_own: bool,
}

impl Scan {
    const LIFETIME: Duration = Duration::from_secs(1);

    fn now(folder: &Path) -> Self {
        let (uptime, began) = (process::uptime(), clock(folder));
        let used = Occupants::in_folders_of(folder).folders();
        let scan = Self { boot: Identity::current_boot().to_owned(), uptime, began, used, is_own: true };
        scan.leave(folder);
        scan
    }

    /// None if it is too old or cannot be read, perhaps because it is being written right now.
    fn recent(folder: &Path) -> Option<Self> {
        let scan: Self = serde_json::from_slice(&fs::read(Self::file(folder)).ok()?).ok()?;
        let age = process::uptime()?.checked_sub(scan.uptime?)?;
        (scan.boot == Identity::current_boot() && age < Self::LIFETIME).then_some(scan)
    }

    /// What another process saw may have ended since: of its scan only the emptiness of a workspace counts.
    fn tells_about(&self, place: &SlotPlace) -> bool {
        let is_newer = place.given_back_at().is_none_or(|at| at < self.began);
        is_newer && (self.is_own || !self.found(place))
    }

    fn found(&self, place: &SlotPlace) -> bool {
        let name = place.path.file_name().unwrap_or_default();
        self.used.contains(&*name.to_string_lossy())
    }

    /// Without it, the next one scans again.
    fn leave(&self, folder: &Path) {
        if let (Some(_), Ok(bytes)) = (self.uptime, serde_json::to_vec(self)) {
            let _ = fs::write(Self::file(folder), bytes);
        }
    }

    fn file(folder: &Path) -> PathBuf {
        folder.join("occupied")
    }
}

/// What time it is by the clock of the file system; before everything if it cannot be asked.
fn clock(folder: &Path) -> i128 {
    let file = folder.join("occupied.clock");
    let asked = fs::write(&file, ".").and_then(|()| fs::metadata(&file));
    asked.map_or(i128::MIN, |found| changed_at(&found))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn place(folder: &Path, name: &str) -> SlotPlace {
        SlotPlace { path: folder.join(name) }
    }

    fn scan(folder: &Path, used: &[&str]) -> Scan {
        Scan {
            boot: Identity::current_boot().to_owned(),
            uptime: process::uptime(),
            began: clock(folder),
            used: used.iter().map(|name| (*name).to_owned()).collect(),
            is_own: true,
        }
    }

    #[test]
    fn a_scan_is_used_again_for_a_second() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Scan::recent(dir.path()).is_none());
        scan(dir.path(), &["w1"]).leave(dir.path());
        let mut strangers = OccupancyCheck { scan: Scan::recent(dir.path()) };
        assert!(!strangers.are_in(&place(dir.path(), "w2")));
        assert!(!strangers.scan.as_ref().unwrap().is_own, "that was known");
        assert!(!strangers.are_in(&place(dir.path(), "w1")), "what was there has ended");
        assert!(strangers.scan.unwrap().is_own);

        let at_boot = Scan { uptime: Some(Duration::ZERO), ..scan(dir.path(), &[]) };
        let elsewhere = Scan { boot: "another".to_owned(), ..scan(dir.path(), &[]) };
        for useless in [at_boot, elsewhere] {
            useless.leave(dir.path());
            assert!(Scan::recent(dir.path()).is_none(), "{useless:?}");
        }
        fs::write(Scan::file(dir.path()), "{").unwrap();
        assert!(Scan::recent(dir.path()).is_none());
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "this crate is the home of processes")]
    fn a_scan_from_before_a_workspace_was_given_back_says_nothing_about_it() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(dir.path(), "w1");
        fs::create_dir(&place.path).unwrap();
        let mut strangers = OccupancyCheck { scan: Some(scan(dir.path(), &[])) };
        let held = place.try_hold().unwrap().unwrap();
        fs::write(place.beside("json"), "{}").unwrap();
        held.remove_claim().unwrap();
        let mut stranger =
            std::process::Command::new("sleep").arg("60").current_dir(&place.path).spawn().unwrap();
        assert!(strangers.are_in(&place));
        stranger.kill().unwrap();
        stranger.wait().unwrap();
    }
}
