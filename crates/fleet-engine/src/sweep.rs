//! Removing what was moved aside, in the background.
//!
//! Owns the process that empties the trash when no runner does. Must never be in the way: after tens of thousands of
//! files were deleted at once, making new ones is slow for minutes on some file systems, so it goes in small steps.

use std::time::Duration;

use fleet_core::problem::{Code, Outcome, Problem};
use fleet_host::git::{self, Pace};
use fleet_host::lock::Exclusive;
use fleet_host::process::{self, Detached};

use crate::environment::Environment;
use crate::home::{Home, make_private};
use crate::keeper::blocking;
use crate::{Engine, problems};

/// Small steps with pauses between them.
const PACE: Pace = Pace { at_most: u64::MAX, pause_every: 500, pause: Duration::from_millis(20) };

/// Starts to empty the trash, unless there is nothing in it.
pub(crate) fn start(engine: &Engine) -> Outcome<()> {
    let home = engine.home();
    if is_empty(home) {
        return Ok(());
    }
    let sweeper = Detached {
        program: Environment::this_binary()?,
        args: vec!["gc".into(), "--sweep".into()],
        env: Some(engine.environment_for_children()),
        cwd: home.root().to_owned(),
        log: home.runner_log(),
    };
    process::spawn_detached(&sweeper).map(drop).map_err(|error| {
        Problem::new(Code::Io, format!("cannot start a process to empty the trash: {error}"))
    })
}

/// Empties the trash; returns at once if another process does.
pub async fn run(engine: &Engine) -> Outcome<()> {
    let home = engine.home();
    let path = home.root().join("sweep.lock");
    make_private(home.root()).map_err(problems::at(home.root()))?;
    let Some(_lock) = Exclusive::try_acquire(&path).map_err(problems::at(&path))? else {
        return Ok(());
    };
    let trash = home.trash();
    let emptied = blocking(move || {
        loop {
            match git::empty_trash(&trash, PACE) {
                // More may have come meanwhile; a file that cannot be removed is not retried forever.
                Ok(done) if !done.empty && done.removed > 0 => {}
                done => return done.map(drop),
            }
        }
    });
    emptied.await?.map_err(problems::at(&home.trash()))
}

fn is_empty(home: &Home) -> bool {
    std::fs::read_dir(home.trash()).map_or(true, |mut entries| entries.next().is_none())
}
