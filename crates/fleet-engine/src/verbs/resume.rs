//! Takes up tasks again that did not come to their end: they are queued once more, and go on with the work that is on
//! their branches.

use fleet_api::verbs::resume::Request;
use fleet_api::views::Launched;
use fleet_core::task::{TaskMove, TaskState};

use super::create::check_agent;
use super::follow;
use super::prelude::*;
use crate::engine::SelectionScope;

/// States from which a user can resume a task.
const RESUMABLE: [TaskState; 4] =
    [TaskState::Failed, TaskState::Cancelled, TaskState::Waiting, TaskState::Held];

pub(super) const fn resumable() -> SelectionScope {
    SelectionScope::of(&RESUMABLE, "failed, cancelled, waiting or held")
}

/// Queues the tasks again; starting them is the caller's business.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Launched> {
    let batch = engine.given_batch(request.batch.as_deref()).await?;
    let mut ids = engine
        .all_selected(&request.ids, &SelectionScope { batch, unknown_is_no_match: true, ..resumable() })
        .await?;
    if batch.is_some() {
        // In the order in which they were added.
        ids.sort_unstable();
    }
    let default_agent = engine.config()?.agent();
    for one in engine.call(ops::FollowTasks { ids: ids.clone() }).await? {
        let agent = one.task.agent().map_or(default_agent, |agent| agent.as_str());
        check_agent(engine, agent)?;
    }
    let now = engine.now();
    let again = |id: &TaskId| ops::MoveTask { id: *id, event: TaskMove::Retry, remark: None, now };
    engine.call(ops::All(ids.iter().map(again).collect())).await?;
    let tasks = follow::look(engine, &ids).await?;
    Ok(Launched { batch, tasks, existing_branches: Vec::new() })
}
