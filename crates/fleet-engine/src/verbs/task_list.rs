use std::collections::BTreeMap;

use fleet_api::verbs::task_list::Request;
use fleet_api::views::{TaskList, TaskView};
use fleet_core::id::ProjectId;
use fleet_core::task::{Label, Status, TaskState};
use fleet_store::ops::{StatusFilter, TaskFilter, TaskPage};

use super::lineage;
use super::prelude::*;
use super::task_add::parsed;
use crate::runner;

/// Lists tasks, status by status, each in the order in which they are served.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<TaskList> {
    let statuses = match (request.statuses.as_slice(), request.all) {
        ([], false) => StatusFilter::open(),
        ([], true) => StatusFilter::all(),
        (named, _) => StatusFilter(named.iter().map(|text| status(text)).collect::<Outcome<_>>()?),
    };
    let limit = limit(engine, request.limit)?;
    let Some(filter) = filter(engine, &request).await? else { return Ok(nothing()) };
    let page = engine.call(ops::ListTasks { statuses, filter, limit, now: engine.time().await? }).await?;
    list(engine, &page).await
}

pub(super) fn limit(engine: &Engine, limit: Option<u32>) -> Outcome<i64> {
    Ok(limit.map_or(engine.config()?.tasks().list_limit, |limit| limit).into())
}

/// `None` when the project has never had a task: then there is nothing to list.
pub(super) async fn filter(engine: &Engine, request: &Request) -> Outcome<Option<TaskFilter>> {
    lineage::check_all_projects(engine, request.all_projects || request.batch.is_some())?;
    let labels = request.labels.iter().map(|text| parsed::<Label>(text)).collect::<Outcome<Vec<_>>>()?;
    let mut unique = labels;
    unique.sort();
    unique.dedup();
    let batch = engine.given_batch(request.batch.as_deref()).await?;
    let filter = TaskFilter { project: None, labels: unique, batch };
    if request.all_projects || batch.is_some() {
        return Ok(Some(filter));
    }
    let project = engine.known_project().await?;
    Ok(project.map(|project| TaskFilter { project: Some(project.id), ..filter }))
}

pub(super) fn nothing() -> TaskList {
    TaskList { tasks: Vec::new(), more: false, projects: BTreeMap::new(), missing_agents: BTreeMap::new() }
}

pub(super) async fn list(engine: &Engine, page: &TaskPage) -> Outcome<TaskList> {
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
    Ok(TaskList { missing_agents: missing(engine, &tasks)?, tasks, more: page.more, projects })
}

/// What keeps ready tasks from being started here: their agents are not there.
fn missing(engine: &Engine, tasks: &[TaskView]) -> Outcome<BTreeMap<TaskId, String>> {
    let usual = engine.config()?.agent();
    let mut known: BTreeMap<&str, bool> = BTreeMap::new();
    let mut missing = BTreeMap::new();
    for task in tasks.iter().filter(|task| task.status == "ready") {
        let agent = task.handed_to.as_deref().or(task.agent.as_deref()).unwrap_or(usual);
        let can_start = match known.get(agent) {
            Some(can_start) => *can_start,
            None => *known.entry(agent).or_insert(runner::can_start(engine, agent)?),
        };
        if !can_start {
            missing.insert(task.id, agent.to_owned());
        }
    }
    Ok(missing)
}

/// A status, as the user typed it.
pub(super) fn status(text: &str) -> Outcome<Status> {
    match text {
        "ready" => Ok(Status::Ready),
        "blocked" => Ok(Status::Blocked),
        "scheduled" => Ok(Status::Scheduled),
        other => other
            .parse::<TaskState>()
            .map(Status::In)
            .map_err(|error| Problem::field("status", format!("{error}; also ready, blocked, scheduled"))),
    }
}
