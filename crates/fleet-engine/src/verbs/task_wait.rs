use fleet_api::verbs::task_wait::{Answer, Request};

use super::prelude::*;
use super::{details, follow};
use crate::waiting::{Waiting, fingerprint};

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let ids = named(engine, &request).await?;
    let mut waiting = Waiting::start(engine, request.wait_seconds).await?;
    loop {
        let tasks = follow::look(engine, &ids).await?;
        let next = fingerprint(&tasks)?;
        if request.after.as_ref() != Some(&next) || !waiting.goes_on().await {
            let tasks = if request.details { details::fill(engine, tasks).await? } else { tasks };
            return Ok(Answer { tasks, next });
        }
    }
}

/// Ids that the caller has seen before are taken as they are: since then they may have been deleted.
async fn named(engine: &Engine, request: &Request) -> Outcome<Vec<TaskId>> {
    let known: Result<Vec<TaskId>, _> = request.ids.iter().map(|id| id.parse()).collect();
    match known {
        Ok(ids) if request.after.is_some() => Ok(ids),
        _ => engine.task_ids(&request.ids).await,
    }
}
