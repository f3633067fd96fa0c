//! Free workspaces that somebody works in.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::slot::Place;
use super::{Area, WorkspaceError};
use crate::process::{self, Identity, Occupant, Occupants};

/// A free workspace that nobody gets as long as these processes use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OccupiedSlot {
    pub path: PathBuf,
    pub occupants: Vec<Occupant>,
}

impl Area {
    /// The free workspaces that processes use. Nothing is changed.
    pub fn occupied(&self) -> Result<Vec<OccupiedSlot>, WorkspaceError> {
        let mut strangers = Strangers::default();
        let mut all = Vec::new();
        for place in self.places()?.into_iter().filter(Place::is_free) {
            let occupants = strangers.of(&place).to_vec();
            if !occupants.is_empty() {
                all.push(OccupiedSlot { path: place.path, occupants });
            }
        }
        Ok(all)
    }
}

/// The processes that use workspaces which no run has, looked for once and only if somebody asks.
#[derive(Debug, Default)]
pub(super) struct Strangers {
    recent: Option<RecentLook>,
    seen: Option<Occupants>,
}

impl Strangers {
    /// Looks at once, if there is a workspace that somebody will ask about and nobody has just looked.
    pub(super) fn in_free_places(area: &Area) -> Self {
        if !area.places().is_ok_and(|places| places.iter().any(Place::is_free)) {
            return Self::default();
        }
        let recent = RecentLook::of(&area.dir);
        let seen = recent.is_none().then(|| look(&area.dir));
        Self { recent, seen }
    }

    pub(super) fn are_in(&mut self, place: &Place) -> bool {
        // Whoever was there may have been the run that has given it back since.
        let was_empty = self.recent.as_ref().is_some_and(|recent| !recent.was_used(place));
        !was_empty && !self.of(place).is_empty()
    }

    fn of(&mut self, place: &Place) -> &[Occupant] {
        let look = || place.path.parent().map(look).unwrap_or_default();
        self.seen.get_or_insert_with(look).of(&place.path)
    }
}

fn look(folder: &Path) -> Occupants {
    let since = process::uptime();
    let seen = Occupants::in_folders_of(folder);
    if let Some(at) = since {
        RecentLook { boot: Identity::current_boot().to_owned(), at, used: seen.folders() }.leave(folder);
    }
    seen
}

/// The last look at all processes, which serves all who open a workspace within a second: where short runs follow each
/// other it would be a tenth of their work. The processes of a run are ended before its workspace is free, and people come
/// and go more slowly. Only for systems where nobody escapes from a run; elsewhere there is no uptime.
#[derive(Debug, Serialize, Deserialize)]
struct RecentLook {
    boot: String,
    /// In the time since the boot.
    at: Duration,
    /// The names of the workspaces that somebody was in.
    used: BTreeSet<String>,
}

impl RecentLook {
    const LIFETIME: Duration = Duration::from_secs(1);

    /// None if it is too old or cannot be read, perhaps because somebody writes it right now.
    fn of(folder: &Path) -> Option<Self> {
        let look: Self = serde_json::from_slice(&fs::read(Self::file(folder)).ok()?).ok()?;
        let age = process::uptime()?.checked_sub(look.at)?;
        (look.boot == Identity::current_boot() && age < Self::LIFETIME).then_some(look)
    }

    fn was_used(&self, place: &Place) -> bool {
        let name = place.path.file_name().unwrap_or_default();
        self.used.contains(&*name.to_string_lossy())
    }

    /// Without it, the next one looks again.
    fn leave(&self, folder: &Path) {
        if let Ok(bytes) = serde_json::to_vec(self) {
            let _ = fs::write(Self::file(folder), bytes);
        }
    }

    fn file(folder: &Path) -> PathBuf {
        folder.join("occupied")
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn place(folder: &Path, name: &str) -> Place {
        Place { path: folder.join(name) }
    }

    #[test]
    fn only_the_emptiness_of_a_recent_look_counts() {
        let dir = tempfile::tempdir().unwrap();
        assert!(RecentLook::of(dir.path()).is_none());
        look(dir.path());
        let now = process::uptime().unwrap();
        let mut recent = RecentLook::of(dir.path()).unwrap();
        recent.used.insert("w1".to_owned());
        assert!(recent.was_used(&place(dir.path(), "w1")) && !recent.was_used(&place(dir.path(), "w2")));
        let mut strangers = Strangers { recent: Some(recent), seen: None };
        assert!(!strangers.are_in(&place(dir.path(), "w2")));
        assert!(strangers.seen.is_none(), "that was known");
        assert!(!strangers.are_in(&place(dir.path(), "w1")));
        assert!(strangers.seen.is_some(), "whoever was there has gone");

        let old = RecentLook { boot: Identity::current_boot().to_owned(), at: now, used: BTreeSet::new() };
        let at_boot = RecentLook { at: Duration::ZERO, ..old };
        let elsewhere = RecentLook { boot: "another".to_owned(), at: now, used: BTreeSet::new() };
        for useless in [at_boot, elsewhere] {
            useless.leave(dir.path());
            assert!(RecentLook::of(dir.path()).is_none(), "{useless:?}");
        }
        fs::write(RecentLook::file(dir.path()), "{").unwrap();
        assert!(RecentLook::of(dir.path()).is_none());
    }
}
