//! Workspaces that keepers left in addition to the configured number.
//!
//! Owns when they go. Must never touch one that was used a moment ago: it may be wanted again.

use std::time::Duration;

use fleet_core::problem::Outcome;
use fleet_core::time::Millis;
use fleet_host::git::Area;

use crate::keeper::blocking;
use crate::{Engine, clock};

/// A workspace that nobody used for this long is not expected to be used again soon.
const UNUSED_MILLIS: i64 = 10 * 60 * 1_000;
const LOOK_INTERVAL: Duration = Duration::from_mins(1);

pub(super) struct SpareWorkspaces {
    looked: Duration,
}

impl SpareWorkspaces {
    /// A runner looks first when it has been up for a while.
    pub(super) fn new() -> Self {
        Self { looked: clock::uptime() }
    }

    /// Moves aside what is more than configured and than this runner has slots, if it is time to look.
    pub(super) async fn trim(&mut self, engine: &Engine, slots: usize) -> Outcome<()> {
        let now = clock::uptime();
        if now.saturating_sub(self.looked) < LOOK_INTERVAL {
            return Ok(());
        }
        self.looked = now;
        let before = Millis(clock::machine_now().0 - UNUSED_MILLIS);
        for project in engine.projects_here().await? {
            let area = engine.home().area(&project, engine.config()?);
            let pool = if area.pool == 0 { 0 } else { area.pool.max(slots) };
            // What fails now is tried again at the next look.
            let _ = blocking(move || Area { pool, ..area }.trim(before)).await?;
        }
        Ok(())
    }
}
