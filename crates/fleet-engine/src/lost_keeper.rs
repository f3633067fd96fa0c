//! Runs that the store takes for ones at work here, and whose keepers are gone.
//!
//! Only for display: what is done about them is decided by the reconciler, under the lock of the run.

use std::fmt;

use fleet_api::views::RunView;
use fleet_core::run::Run;
use fleet_host::lock::Exclusive;
use fleet_host::process::Identity;

use crate::home::Home;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LostKeeper {
    /// No repair has begun; a runner starts one at its next look.
    Unattended,
    /// A repair saves its work and ends it.
    Repairing,
}

impl LostKeeper {
    /// `None` for a run that is over, at work elsewhere, or kept, and for one whose keeper has not begun yet.
    pub(crate) fn of(home: &Home, run: &Run) -> Option<Self> {
        let is_here = || home.place().is_ok_and(|place| place == run.place);
        if !run.state.is_live() || !is_gone(run) || !is_here() {
            return None;
        }
        let is_held = Exclusive::is_held(&home.live_run(run.id)).ok()?;
        Some(if is_held { Self::Repairing } else { Self::Unattended })
    }

    /// Says that the keeper of a run is gone, in place of the agent's last activity.
    pub(crate) fn tell(self, run: &mut RunView) {
        run.activity = Some(self.to_string());
        run.percent = None;
        run.agent_state = None;
    }
}

impl fmt::Display for LostKeeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unattended => "its keeper is gone; a runner will repair it",
            Self::Repairing => "its keeper is gone; being repaired",
        })
    }
}

/// Whether the keeper of a run began, and has ended.
pub(crate) fn is_gone(run: &Run) -> bool {
    let keeper: Option<Identity> = run.keeper.as_deref().and_then(|keeper| serde_json::from_str(keeper).ok());
    keeper.is_some_and(|keeper| !keeper.is_alive())
}
