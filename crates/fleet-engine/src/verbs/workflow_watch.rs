//! Waits for a workflow: how it stands, and when that changes.

use std::time::Duration;

use fleet_core::id::WorkflowId;
use fleet_core::problem::Outcome;
use fleet_store::Watch;

use super::workflow_show::{self, Depth, Response};
use crate::{Engine, problems};

/// The workflow that somebody means.
pub async fn find(engine: &Engine, typed: &str) -> Outcome<WorkflowId> {
    workflow_show::meant(engine, typed).await
}

/// Somebody who waits for a workflow.
pub struct Watching<'a> {
    engine: &'a Engine,
    watch: Watch,
    id: WorkflowId,
}

impl<'a> Watching<'a> {
    /// Begins. What changes from now on rings, so the first look comes after this.
    pub async fn start(engine: &'a Engine, id: WorkflowId) -> Outcome<Self> {
        let watch = engine.store().await?.watch().await.map_err(problems::store)?;
        Ok(Self { engine, watch, id })
    }

    /// How it stands. What agents said in the end is left out: it may be long, and nobody reads it again and again.
    pub async fn look(&self) -> Outcome<Response> {
        workflow_show::look(self.engine, self.id, Depth::States).await
    }

    /// Waits until anything in the store changed, at most for `longest`.
    pub async fn changed(&self, longest: Duration) {
        self.watch.changed(longest).await;
    }
}
