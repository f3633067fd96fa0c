use fleet_api::verbs::task_recent::{Answer, Request};

use super::prelude::*;
use super::{follow, lineage};

/// Lists those of every project; of an agent, those that come from its own task.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let before = request.after.as_deref().map(str::parse::<TaskId>).transpose().map_err(problems::id)?;
    let limit = i64::from(request.limit) + 1;
    let recent = ops::RecentTasks { kinds: request.kinds, project: None, before, limit };
    let mut found = engine.call(recent).await?;
    let more = found.len() > request.limit as usize;
    found.truncate(request.limit as usize);
    let next = found.last().filter(|_| more).map(|last| last.task.id);
    lineage::retain_own(engine, &mut found, |one| one.task.id).await?;
    let now = engine.now();
    Ok(Answer { tasks: found.iter().map(|one| follow::view(one, now)).collect(), next })
}
