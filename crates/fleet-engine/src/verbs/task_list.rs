//! Lists tasks: all, or only those that could start now.

use std::collections::BTreeMap;

use fleet_core::id::{BatchId, ProjectId};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::task::{Label, Status, TaskState};
use fleet_store::ops::{self, Page, StatusFilter, TaskFilter};

use super::task_add::parsed;
use crate::views::{TaskList, TaskView};
use crate::{Engine, problems};

/// Which tasks.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// States or derived statuses; empty is everything that is not over.
    pub statuses: Vec<String>,
    /// Done and cancelled ones, too.
    pub all: bool,
    /// Only those with all of these.
    pub labels: Vec<String>,
    /// Only those of this batch, of whatever project.
    pub batch: Option<String>,
    /// Of every project instead of the directory's.
    pub all_projects: bool,
    /// So many at most; `None` is what is configured.
    pub limit: Option<u32>,
}

/// Lists tasks, status by status, each in the order in which they are served.
pub async fn run(engine: &Engine, request: Request) -> Outcome<TaskList> {
    let statuses = match (request.statuses.as_slice(), request.all) {
        ([], false) => StatusFilter::open(),
        ([], true) => StatusFilter::all(),
        (named, _) => StatusFilter(named.iter().map(|text| status(text)).collect::<Outcome<_>>()?),
    };
    let limit = limit(engine, &request)?;
    let Some(filter) = filter(engine, &request).await? else { return Ok(nothing()) };
    let page = engine.call(ops::ListTasks { statuses, filter, limit, now: engine.time().await? }).await?;
    list(engine, &page).await
}

/// Lists what a claim would look at next.
pub async fn ready(engine: &Engine, request: Request) -> Outcome<TaskList> {
    let limit = limit(engine, &request)?;
    let Some(filter) = filter(engine, &request).await? else { return Ok(nothing()) };
    let page = engine.call(ops::Ready { filter, limit, now: engine.time().await? }).await?;
    list(engine, &page).await
}

fn limit(engine: &Engine, request: &Request) -> Outcome<i64> {
    Ok(request.limit.map_or(engine.config()?.list_limit(), |limit| limit).into())
}

/// `None` when the project has never had a task: then there is nothing to list.
async fn filter(engine: &Engine, request: &Request) -> Outcome<Option<TaskFilter>> {
    let labels = request.labels.iter().map(|text| parsed::<Label>(text)).collect::<Outcome<Vec<_>>>()?;
    let mut unique = labels;
    unique.sort();
    unique.dedup();
    let batch = request.batch.as_deref().map(str::parse::<BatchId>).transpose().map_err(problems::id)?;
    let filter = TaskFilter { project: None, labels: unique, batch };
    if request.all_projects || batch.is_some() {
        return Ok(Some(filter));
    }
    let project = engine.known_project().await?;
    Ok(project.map(|project| TaskFilter { project: Some(project.id), ..filter }))
}

fn nothing() -> TaskList {
    TaskList { tasks: Vec::new(), more: false, projects: BTreeMap::new() }
}

async fn list(engine: &Engine, page: &Page) -> Outcome<TaskList> {
    let now = engine.now();
    let tasks = page
        .tasks
        .iter()
        .map(|task| TaskView::new(task, now).behind(page.obstacles.get(&task.id)))
        .collect::<Vec<_>>();
    let used: std::collections::BTreeSet<ProjectId> = tasks.iter().map(|task| task.project).collect();
    let mut projects = BTreeMap::new();
    if !used.is_empty() {
        let all = engine.projects().await?;
        projects.extend(all.into_iter().filter(|project| used.contains(&project.id)).map(|p| (p.id, p.name)));
    }
    Ok(TaskList { tasks, more: page.more, projects })
}

/// A status as somebody types it.
pub(super) fn status(text: &str) -> Outcome<Status> {
    match text {
        "ready" => Ok(Status::Ready),
        "blocked" => Ok(Status::Blocked),
        "scheduled" => Ok(Status::Scheduled),
        other => other.parse::<TaskState>().map(Status::In).map_err(|error| {
            Problem::new(Code::InvalidValue, format!("status: {error}; also ready, blocked, scheduled"))
        }),
    }
}
