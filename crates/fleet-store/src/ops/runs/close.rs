//! The last reports of a keeper about its run, at once.

use fleet_core::run::RunMove;
use fleet_core::task::Task;
use serde::{Deserialize, Serialize};

use super::advance::AdvanceRun;
use super::append::AppendRunEvents;
use super::end::EndRun;
use super::row::lock_to_end;
use crate::ops::prelude::*;

/// Records the last of what an agent said, that it ended, and how its run ended: all of it, or nothing. A run without
/// unsaved work is closed with one transaction instead of three.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CloseRun {
    /// What the agent said last, if that is not known yet.
    pub last: Option<AppendRunEvents>,
    /// Whether the end of the agent is news.
    pub exited: bool,
    pub end: EndRun,
}

#[async_trait]
impl Op for CloseRun {
    type Out = Task;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Task, StoreError> {
        let EndRun { run, attempt, now, .. } = self.end;
        tx.together();
        // First: what was said last changes the run, and workflow and task are locked before it everywhere.
        match lock_to_end(tx, run, attempt).await {
            Err(StoreError::LeaseLost { .. }) => return self.end.ended_before(tx).await,
            locked => drop(locked?),
        }
        if let Some(last) = &self.last {
            last.run(tx).await?;
        }
        if self.exited {
            AdvanceRun { run, attempt, event: RunMove::Exit, now }.run(tx).await?;
        }
        self.end.run(tx).await
    }
}
