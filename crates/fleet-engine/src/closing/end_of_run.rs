//! How a run ended, as the store records it.

use std::time::Duration;

use fleet_core::id::RunId;
use fleet_core::outcome::RunResult;
use fleet_core::problem::Outcome;
use fleet_core::run::{Ending, Run, RunMove};
use fleet_core::task::Task;
use fleet_core::time::Millis;
use fleet_host::plain;
use fleet_store::{Store, StoreError, ops};
use serde::{Deserialize, Serialize};

use crate::home::{RunFolder, write_passing, write_private};
use crate::{agents, clock, problems};

/// The longest pause between two attempts to tell the store.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How a run ended, written down before it is recorded in the store: after a crash, a repair can record it instead.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct EndOfRun {
    pub(crate) run: RunId,
    /// Notes of earlier versions call it `fence`.
    #[serde(alias = "fence")]
    pub(crate) attempt: i64,
    pub(crate) ending: Ending,
    pub(crate) result: Option<RunResult>,
    /// When the provider lets the account go on, if it said so.
    #[serde(default)]
    pub(crate) reset: Option<Millis>,
}

impl EndOfRun {
    /// Of a run of which nothing is known but how it ended.
    pub(crate) const fn without_result(run: &Run, ending: Ending) -> Self {
        Self { run: run.id, attempt: run.attempt, ending, result: None, reset: None }
    }

    /// Writes it down. Not being able to is no reason to keep the store waiting.
    pub(crate) fn note(&self, folder: &RunFolder) -> std::io::Result<()> {
        if let Some(result) = &self.result {
            // The store has it, too.
            write_passing(&folder.result(), &serde_json::to_vec_pretty(result)?)?;
        }
        write_private(&folder.ending(), &serde_json::to_vec(self)?)
    }

    /// `None` if nothing was written down.
    pub(crate) fn noted(folder: &RunFolder) -> Option<Self> {
        serde_json::from_slice(&plain::read(&folder.ending()).ok()?).ok()
    }

    pub(crate) fn as_op(&self, after: &ops::FailureSettings, jitter: u64) -> ops::EndRun {
        ops::EndRun {
            run: self.run,
            attempt: self.attempt,
            ending: self.ending.clone(),
            result: self.result.as_ref().and_then(|result| serde_json::to_string(result).ok()),
            after: agents::until(after, self.reset),
            jitter,
            now: clock::now(),
        }
    }

    /// Tells the store, and tries again until it answers. `None` means that another process has decided.
    pub(crate) async fn record(&self, store: &Store, after: &ops::FailureSettings) -> Outcome<Option<Task>> {
        let mut pause = Duration::from_millis(100);
        let (jitter, mut caught_up) = (clock::entropy()?, false);
        loop {
            let told = match store.call(self.as_op(after, jitter)).await {
                // The store was out of reach when the agent started or ended: that is made up for here.
                Err(StoreError::IllegalRun { .. }) if !caught_up => match self.catch_up(store).await {
                    Ok(()) => {
                        caught_up = true;
                        continue;
                    }
                    Err(error) => Err(error),
                },
                told => told,
            };
            match told {
                Ok(task) => return Ok(Some(task)),
                Err(StoreError::LeaseLost { .. } | StoreError::RunNotFound(_)) => return Ok(None),
                Err(error) if error.is_temporary() => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                Err(error) => return Err(problems::store(error)),
            }
        }
    }

    /// Tells the store that the agent started and ended, as far as it does not know.
    async fn catch_up(&self, store: &Store) -> Result<(), StoreError> {
        for event in [RunMove::Start, RunMove::Exit] {
            let advance = ops::AdvanceRun { run: self.run, attempt: self.attempt, event, now: clock::now() };
            match store.call(advance).await {
                Ok(_) | Err(StoreError::IllegalRun { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
