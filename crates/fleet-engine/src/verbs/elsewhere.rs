//! Runs of other places. Their branches, snapshots and folders are there: a branch of the same name here is another
//! one.

use fleet_host::machine;

use super::prelude::*;
use crate::home::Home;

#[derive(Debug, Clone)]
pub(super) struct ThisPlace {
    place: String,
    home: Home,
}

impl ThisPlace {
    pub(super) fn of(engine: &Engine) -> Outcome<Self> {
        Ok(Self { place: engine.place()?, home: engine.home().clone() })
    }

    /// Whether a run worked here, or in a home of which this one is a copy or the new place: then its folder came along.
    pub(super) fn has(&self, run: &Run) -> bool {
        run.place == self.place || (!run.state.is_live() && self.home.run(run.id).dir().exists())
    }

    /// Where a run worked, in words, if that was not here.
    pub(super) fn place_of(&self, run: &Run) -> Option<String> {
        match run {
            run if self.has(run) => None,
            _ if is_on_this_machine(run) => Some(format!("on host {} (another home)", host(run))),
            _ => Some(format!("on host {}", host(run))),
        }
    }
}

/// A runner is called like its machine, with a number after that.
fn host(run: &Run) -> &str {
    run.runner.rsplit_once('-').map_or(run.runner.as_str(), |(host, _)| host)
}

fn is_on_this_machine(run: &Run) -> bool {
    host(run) == machine::name()
}

/// Refuses a run that worked elsewhere.
pub(super) fn refuse(engine: &Engine, run: &Run) -> Outcome<()> {
    let Some(place) = ThisPlace::of(engine)?.place_of(run) else { return Ok(()) };
    let here = format!("run the same command there; `fleet show {}` shows what is known here", run.id);
    let what = match &run.branch {
        // Both homes may work in the same repository.
        Some(branch) if is_on_this_machine(run) => {
            let what = format!("run {} worked {place}: only that home can show or undo its work", run.id);
            let shared = format!("if both homes use this checkout, `git log {branch}` shows its branch");
            return Err(Problem::new(Code::NotHere, what).hint(here).hint(shared));
        }
        Some(branch) => format!("run {} worked {place}: its branch {branch} is there, not here", run.id),
        None => format!("run {} worked {place}: what it left is there, not here", run.id),
    };
    Err(Problem::new(Code::NotHere, what).hint(here))
}
