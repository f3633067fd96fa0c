use fleet_api::verbs::workflow_retry::Request;
use fleet_api::verbs::workflow_show::Depth;
use fleet_api::views::WorkflowDetail;

use super::prelude::*;
use super::task_add::parsed;
use super::workflow_show::{look, meant};

/// Retries it; starting its tasks is the caller's business.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<WorkflowDetail> {
    let id = meant(engine, &request.id).await?;
    let from = request.from.as_deref().map(parsed).transpose()?;
    engine.call(ops::RetryWorkflow { id, from, now: engine.now() }).await?;
    look(engine, id, Depth::States).await
}
