//! Tries again what is not done of a workflow, or does a stage and all that build on it once more.

use fleet_core::problem::Outcome;
use fleet_store::ops;

use super::lineage;
use super::task_add::parsed;
use super::workflow_show::{self, Depth, Response, meant};
use crate::Engine;

/// Which workflow, and from where on.
#[derive(Debug, Clone)]
pub struct Request {
    /// Its id, the beginning of that, or its name.
    pub id: String,
    /// The stage that is done once more, with all that build on it.
    pub from: Option<String>,
}

/// Has it go on; nobody is told to start anything yet, see [`super::launch::wake`].
pub async fn run(engine: &Engine, request: Request) -> Outcome<Response> {
    let id = meant(engine, &request.id).await?;
    lineage::check_workflow(engine, id).await?;
    let from = request.from.as_deref().map(parsed).transpose()?;
    engine.call(ops::RetryWorkflow { id, from, now: engine.now() }).await?;
    workflow_show::look(engine, id, Depth::States).await
}
