//! Looking at a workspace while its run works in it.

use super::slot::SlotPhase;
use super::{Area, WorkspaceError, register};
use crate::git::checkout::Checkout;

/// A workspace as it looks from outside. Nothing is locked: the run may end at any moment, and the next one begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenWorkspace {
    pub checkout: Checkout,
    /// The paths that were copied into it and must not get into the repository.
    pub private: Vec<String>,
}

impl Area {
    /// The workspace in which a run is at work. `None` if it has none, not yet or not any more.
    pub fn look(&self, owner: &str) -> Result<Option<SeenWorkspace>, WorkspaceError> {
        for place in self.places()? {
            // A damaged note of another workspace is no reason not to find this one.
            let Ok(Some(claim)) = place.claim() else { continue };
            if claim.owner != owner || claim.phase != SlotPhase::Open {
                continue;
            }
            let checkout = match claim.git_dir {
                Some(git_dir) => Checkout { work_tree: place.path, git_dir, common_dir: self.repo.clone() },
                None => register::checkout(&self.known_vault(), &place.path),
            };
            return Ok(Some(SeenWorkspace { checkout, private: claim.private }));
        }
        Ok(None)
    }
}
