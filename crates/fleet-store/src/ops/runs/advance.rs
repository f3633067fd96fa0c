//! How a run moves on, told by its keeper.

use fleet_core::run::{RunMove, RunState, StopRequest};
use serde::{Deserialize, Serialize};

use super::row::{about_run, illegal, lock_live_run, step};
use crate::ops::prelude::*;
use crate::ops::rows::record;

/// Moves a run on: its agent was started, or ended.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct AdvanceRun {
    pub run: RunId,
    pub attempt: i64,
    /// Start or exit.
    pub event: RunMove,
    pub now: Millis,
}

#[async_trait]
impl Op for AdvanceRun {
    type Out = RunState;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<RunState, StoreError> {
        let mut run = lock_live_run(tx, self.run, self.attempt).await?;
        // An end has consequences for the task, which only EndRun knows.
        if !matches!(self.event, RunMove::Start | RunMove::Exit) {
            return Err(illegal(&run, self.event));
        }
        step(&mut run, self.event)?;
        let state = run.state();
        let started_at = Some(self.now).filter(|_| self.event == RunMove::Start).or(run.started_at);
        let advance = sql!(
            "UPDATE runs SET state = $2, started_at = $3, \
             agent_state = CASE WHEN $2 = 'running' THEN agent_state END WHERE id = $1",
            self.run,
            state.as_str(),
            started_at,
        );
        tx.defer(advance).await?;
        record(tx, self.now, about_run(&run), &Fact::RunMoved { state }).await?;
        Ok(state)
    }
}

/// Records what a keeper found out while it prepared its run. Called as often as there is news: who keeps it comes
/// first, so that a keeper which dies in the middle can be told from one that lives. Returns the request to stop the
/// run, if there is one: before a keeper is registered, no other process can notify it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PrepareRun {
    pub run: RunId,
    pub attempt: i64,
    /// What is known now; the rest stays as it is.
    pub prepared: Prepared,
    pub now: Millis,
}

/// What is known of a run's surroundings; `None` leaves a field as it is.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Prepared {
    pub branch: Option<String>,
    pub base: Option<String>,
    pub workspace: Option<String>,
    /// The process that keeps it.
    pub keeper: Option<String>,
    /// The model that the agent is asked to use.
    pub model: Option<String>,
}

#[async_trait]
impl Op for PrepareRun {
    type Out = Option<StopRequest>;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Option<StopRequest>, StoreError> {
        let run = lock_live_run(tx, self.run, self.attempt).await?;
        let Prepared { branch, base, workspace, keeper, model } = self.prepared.clone();
        let prepare = sql!(
            "UPDATE runs SET branch = coalesce($2, branch), base = coalesce($3, base), \
             workspace = coalesce($4, workspace), keeper = coalesce($5, keeper), model = coalesce($6, model) \
             WHERE id = $1",
            self.run,
            branch.clone(),
            base.clone(),
            workspace,
            keeper,
            model,
        );
        tx.defer(prepare).await?;
        let is_known = |new: &Option<String>, old: &Option<String>| new.is_none() || new == old;
        if is_known(&branch, &run.branch) && is_known(&base, &run.base) {
            return Ok(run.stop);
        }
        let subject = about_run(&run);
        let fact = Fact::RunPrepared { branch: branch.or(run.branch), base: base.or(run.base) };
        record(tx, self.now, subject, &fact).await?;
        Ok(run.stop)
    }
}
