//! Waiting for more of a log.

use std::time::Duration;

use fleet_core::id::RunId;
use fleet_core::problem::Outcome;
use fleet_core::run::{Run, RunState};
use fleet_host::process::Identity;
use fleet_store::{Watch, ops};

use super::Log;
use crate::{Engine, problems};

/// A log is looked at so often: writing to it tells nobody.
const LOOK: Duration = Duration::from_millis(100);

/// Until when a log grows.
pub struct Following<'e> {
    engine: &'e Engine,
    watch: Watch,
    run: RunId,
    end: Option<End>,
}

/// Why nothing more comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The run ended so.
    Ended(RunState),
    /// Its keeper is gone, and nobody has tidied up yet.
    Deserted,
}

impl<'e> Following<'e> {
    /// Begins to wait for more of a log.
    pub async fn new(engine: &'e Engine, log: &Log) -> Outcome<Self> {
        let watch = engine.store().await?.watch().await.map_err(problems::store)?;
        Ok(Self { engine, watch, run: log.run.id, end: end(&log.run) })
    }

    /// Why nothing more comes, if that is so. What was written before can still be read.
    pub const fn end(&self) -> Option<End> {
        self.end
    }

    /// Waits a moment. There may be more then, or it may be known that nothing more comes.
    pub async fn wait(&mut self) -> Outcome<()> {
        self.watch.changed(LOOK).await;
        self.end = end(&self.engine.call(ops::GetRun { run: self.run }).await?.run);
        Ok(())
    }
}

fn end(run: &Run) -> Option<End> {
    if !run.state.is_live() {
        return Some(End::Ended(run.state));
    }
    let keeper: Identity = serde_json::from_str(run.keeper.as_deref()?).ok()?;
    (!keeper.is_alive()).then_some(End::Deserted)
}
