//! Free workspaces that somebody works in.

use std::path::PathBuf;

use super::slot::Place;
use super::{Area, WorkspaceError};
use crate::process::{Occupant, Occupants};

/// A free workspace that nobody gets as long as these processes use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OccupiedSlot {
    /// The folder of the workspace.
    pub path: PathBuf,
    /// The processes.
    pub occupants: Vec<Occupant>,
}

impl Area {
    /// The free workspaces that somebody works in. Nothing is changed.
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
    seen: Option<Occupants>,
}

impl Strangers {
    /// Looks at once, if there is a workspace that somebody will ask about.
    pub(super) fn in_free_places(area: &Area) -> Self {
        let is_any_free = area.places().is_ok_and(|places| places.iter().any(Place::is_free));
        Self { seen: is_any_free.then(|| Occupants::in_folders_of(&area.dir)) }
    }

    pub(super) fn are_in(&mut self, place: &Place) -> bool {
        !self.of(place).is_empty()
    }

    fn of(&mut self, place: &Place) -> &[Occupant] {
        let look = || place.path.parent().map(Occupants::in_folders_of).unwrap_or_default();
        self.seen.get_or_insert_with(look).of(&place.path)
    }
}
