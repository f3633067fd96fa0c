//! Lists tasks by their age, newest first, page by page.

use fleet_core::id::TaskId;
use fleet_core::problem::Outcome;
use fleet_store::ops;
pub use fleet_store::ops::TaskKind;

use super::follow::Followed;
use crate::{Engine, problems};

/// Which tasks.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Only these; empty is all.
    pub kinds: Vec<TaskKind>,
    /// Only those that are older than the task of this id: the last one of the page before.
    pub before: Option<String>,
    /// So many at most.
    pub limit: u32,
}

/// A page.
#[derive(Debug, Clone)]
pub struct Response {
    /// The tasks, newest first.
    pub tasks: Vec<Followed>,
    /// What names the next page, if there is one.
    pub next: Option<TaskId>,
}

/// Lists those of every project.
pub async fn run(engine: &Engine, request: Request) -> Outcome<Response> {
    let before = request.before.as_deref().map(str::parse::<TaskId>).transpose().map_err(problems::id)?;
    let limit = request.limit as usize;
    let op =
        ops::RecentTasks { kinds: request.kinds, project: None, before, limit: i64::from(request.limit) + 1 };
    let mut found = engine.call(op).await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|last| last.task.id);
    let now = engine.now();
    Ok(Response { tasks: found.iter().map(|one| Followed::new(one, now)).collect(), next })
}
