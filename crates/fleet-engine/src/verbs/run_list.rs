use std::collections::BTreeMap;

use fleet_api::verbs::run_list::{Answer, CpuSample, Request};
use fleet_core::task::{Status, TaskState};
use fleet_store::ops::{ListTasks, ListedRun, RunFilter, StatusFilter, TaskFilter, TaskPage};

use super::prelude::*;
use super::{lineage, queue_pauses, task_list};
use crate::load;
use crate::lost_keeper::LostKeeper;
use crate::waiting::Waiting;
use fleet_api::views::{ListedRunView, RunView, TaskList};

/// More agents than any fleet has at work.
const MAX_LIVE: u32 = 10_000;

/// Lists them. An agent sees those that come from its own task.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let mut waiting = Waiting::start(engine, request.wait_seconds).await?;
    waiting.store_change().await;
    lineage::check_all_projects(engine, request.all_projects)?;
    let filter = filter(engine, &request).await?;
    let (listed, more) = find(engine, &request, filter.as_ref()).await?;
    let is_narrowed = !request.all_projects && request.batch.is_none();
    let elsewhere = if listed.is_empty() && is_narrowed { live_anywhere(engine).await? } else { 0 };
    let TaskList { tasks: queue, mut projects, .. } = queue(engine, &request, filter.as_ref()).await?;
    let TaskList { tasks: unstarted, projects: others, .. } =
        unstarted(engine, &request, filter.as_ref()).await?;
    projects.extend(others);
    let (runs, looked) = views(engine, &listed, request.after.unwrap_or_default()).await?;
    let looked = request.wait_seconds.map(|_| looked);
    let project = filter.as_ref().and_then(|filter| filter.project);
    let mut paused = queue_pauses::shown(engine).await?;
    paused.retain(|pause| project.is_none() || pause.project.is_none() || pause.project == project);
    Ok(Answer { runs, more, queue, unstarted, projects, paused, elsewhere, looked })
}

/// What is neither running nor over. An agent sees what comes from its own task.
async fn queue(engine: &Engine, request: &Request, filter: Option<&RunFilter>) -> Outcome<TaskList> {
    let Some(&RunFilter { project, batch, .. }) = filter else { return Ok(task_list::nothing()) };
    let is_idle = |status: &Status| *status != Status::In(TaskState::Running);
    let statuses = StatusFilter(StatusFilter::open().0.into_iter().filter(is_idle).collect());
    let (filter, limit) =
        (TaskFilter { project, batch, ..Default::default() }, task_list::limit(engine, request.limit)?);
    let page = engine.call(ListTasks { statuses, filter, limit, now: engine.now() }).await?;
    let mut list = task_list::list(engine, &page).await?;
    lineage::retain_own(engine, &mut list.tasks, |task| task.id).await?;
    Ok(list)
}

/// What was cancelled before it had a run, for those who want to see everything.
async fn unstarted(engine: &Engine, request: &Request, filter: Option<&RunFilter>) -> Outcome<TaskList> {
    let Some(&RunFilter { project, batch, .. }) = filter.filter(|_| request.all) else {
        return Ok(task_list::nothing());
    };
    let limit = task_list::limit(engine, request.limit)?;
    let tasks = engine.call(ops::CancelledUnstarted { project, batch, limit }).await?;
    let mut list = task_list::list(engine, &TaskPage { tasks, ..TaskPage::default() }).await?;
    lineage::retain_own(engine, &mut list.tasks, |task| task.id).await?;
    Ok(list)
}

/// Those at work. An agent sees those that come from its own task.
pub(super) async fn live(engine: &Engine, all_projects: bool) -> Outcome<Vec<ListedRunView>> {
    let request = Request { all_projects, ..Request::default() };
    let filter = filter(engine, &request).await?;
    let (listed, _) = find(engine, &request, filter.as_ref()).await?;
    Ok(views(engine, &listed, CpuSample::default()).await?.0)
}

/// The runs of a filter, and whether there are more.
async fn find(
    engine: &Engine,
    request: &Request,
    filter: Option<&RunFilter>,
) -> Outcome<(Vec<ListedRun>, bool)> {
    let limit = match (request.limit, request.all) {
        (Some(limit), _) => limit,
        (None, true) => engine.config()?.tasks().list_limit,
        (None, false) => MAX_LIVE,
    };
    let Some(filter) = filter.cloned() else { return Ok((Vec::new(), false)) };
    // How many of them are an agent's own is known only when all are there.
    let looked_through = if lineage::own_task(engine)?.is_some() { MAX_LIVE } else { limit };
    let mut listed = engine.call(ops::ListRuns { filter, limit: i64::from(looked_through) + 1 }).await?;
    lineage::retain_own(engine, &mut listed, |listed| listed.run.task).await?;
    let more = listed.len() > limit as usize;
    listed.truncate(limit as usize);
    Ok((listed, more))
}

async fn views(
    engine: &Engine,
    listed: &[ListedRun],
    before: CpuSample,
) -> Outcome<(Vec<ListedRunView>, CpuSample)> {
    if listed.is_empty() {
        return Ok((Vec::new(), before));
    }
    let here = super::elsewhere::ThisPlace::of(engine)?;
    let runs: Vec<Run> = listed.iter().map(|listed| listed.run.clone()).collect();
    let home = engine.home().clone();
    let (loads, lost, looked) = blocking(move || {
        let lost = runs.iter().filter_map(|run| Some((run.id, LostKeeper::of(&home, run)?)));
        let lost: BTreeMap<RunId, LostKeeper> = lost.collect();
        let (loads, looked) = load::look(&home, &runs, &before);
        (loads, lost, looked)
    })
    .await?;
    let view = |listed: &ListedRun| {
        let mut run = RunView::from(&listed.run);
        if let Some(lost) = lost.get(&listed.run.id) {
            lost.tell(&mut run);
        }
        ListedRunView {
            run,
            title: listed.title.as_ref().map(ToString::to_string),
            task_state: listed.task_state,
            task_branch: listed.task_branch.clone(),
            batch: listed.batch,
            project_name: listed.project_name.clone(),
            elsewhere: here.place_of(&listed.run),
            load: loads.get(&listed.run.id).copied(),
        }
    };
    Ok((listed.iter().map(view).collect(), looked))
}

/// `None` when the project has never had a task.
async fn filter(engine: &Engine, request: &Request) -> Outcome<Option<RunFilter>> {
    let batch = engine.given_batch(request.batch.as_deref()).await?;
    let newest_of_task = request.newest_only;
    let filter = RunFilter { live_only: !request.all, batch, newest_of_task, ..Default::default() };
    if request.all_projects || batch.is_some() {
        return Ok(Some(filter));
    }
    let project = engine.known_project().await.map_err(|problem| match problem.code {
        Code::NotARepository => problem.hint("`fleet list -A` shows the runs of every repository"),
        _ => problem,
    })?;
    Ok(project.map(|project| RunFilter { project: Some(project.id), ..filter }))
}

/// A user who finds nothing may be in the wrong repository.
async fn live_anywhere(engine: &Engine) -> Outcome<usize> {
    if engine.caller()?.run().is_some() {
        return Ok(0);
    }
    let filter = RunFilter { live_only: true, ..Default::default() };
    Ok(engine.call(ops::ListRuns { filter, limit: MAX_LIVE.into() }).await?.len())
}
