use fleet_api::verbs::task_list;
use fleet_api::verbs::task_ready::Request;
use fleet_api::views::TaskList;

use super::prelude::*;
use super::task_list::{filter, limit, list, nothing};

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<TaskList> {
    let limit = limit(engine, request.limit)?;
    let Request { labels, all_projects, .. } = request;
    let which = task_list::Request { labels, all_projects, ..task_list::Request::default() };
    let Some(filter) = filter(engine, &which).await? else { return Ok(nothing()) };
    let page = engine.call(ops::ListReady { filter, limit, now: engine.time().await? }).await?;
    list(engine, &page).await
}
