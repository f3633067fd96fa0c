use fleet_api::verbs::keep::{Answer, Request};
use fleet_api::views::TaskView;
use fleet_core::outcome::{CheckResult, RunResult};
use fleet_core::task::Task;
use fleet_core::tidy::CleanReach;

use super::clean::{CleanWish, plan_of_tasks, remove_all};
use super::prelude::*;
use super::{lineage, task_clean};
use crate::cancellation::{self, CancelRequest, StopUntil};
use crate::engine::branch_of;

/// More than any batch that is launched by hand.
const MAX_TASKS: i64 = 1_000;

/// Drops the others: those that have not finished are stopped first, and what the user went on with stays.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let id = engine.task_id(&request.id).await?;
    let keep = engine.call(ops::GetTask { id }).await?;
    let mut others = others(engine, &keep.task).await?;
    if let Some(confirmed) = &request.confirmed {
        others.retain(|one| confirmed.contains(&one.id));
    }
    let open: Vec<TaskId> = others.iter().filter(|one| !one.state().is_settled()).map(|one| one.id).collect();
    let ids: Vec<TaskId> = others.iter().map(|one| one.id).collect();
    let now = engine.now();
    let stopped = others.iter().filter(|one| open.contains(&one.id)).map(|one| TaskView::new(one, now));
    let mut answer = Answer {
        dry_run: request.dry_run,
        branch: branch_of(&keep.task, keep.runs.last()),
        checks: checks(engine, keep.runs.last()).await?,
        keep: TaskView::new(&keep.task, now),
        stopped: stopped.collect(),
        removed: Vec::new(),
        kept: Vec::new(),
    };
    if !request.dry_run {
        stop(engine, &open).await?;
    }
    let wish = CleanWish { reach: CleanReach::All, named: &[] };
    let plan = plan_of_tasks(engine, keep.task.project, &ids, wish).await?;
    let mut cleaned = if request.dry_run { plan.previewed() } else { remove_all(engine, plan).await? };
    if request.dry_run {
        cleaned.kept.retain(|kept| !open.contains(&kept.task));
    }
    (answer.removed, answer.kept) = (cleaned.removed, cleaned.kept);
    Ok(answer)
}

/// The checks of a run, as far as they were run.
async fn checks(engine: &Engine, run: Option<&Run>) -> Outcome<Vec<CheckResult>> {
    let Some(run) = run else { return Ok(Vec::new()) };
    let result = engine.call(ops::GetRun { run: run.id }).await?.result;
    let result: Option<RunResult> = result.and_then(|text| serde_json::from_str(&text).ok());
    Ok(result.map(|result| result.checks).unwrap_or_default())
}

/// The other tasks of the batch with the same prompt: `fleet multi` makes batches of different ones, which must not be
/// dropped.
pub(super) async fn others(engine: &Engine, keep: &Task) -> Outcome<Vec<Task>> {
    let alone = |why: &str| {
        Problem::new(Code::NothingMatched, format!("task {}: {why}", keep.id))
            .hint("`fleet fanout` launches several; `fleet clean ID` removes single branches")
    };
    let Some(batch) = keep.spec.batch else { return Err(alone("it was not launched together with others")) };
    let filter = ops::TaskFilter { batch: Some(batch), ..Default::default() };
    let all =
        ops::ListTasks { statuses: ops::StatusFilter::all(), filter, limit: MAX_TASKS, now: engine.now() };
    let page = engine.call(all).await?;
    let same = |task: &&Task| task.id != keep.id && task.spec.title == keep.spec.title;
    let details = page.tasks.iter().filter(same).map(|task| ops::GetTask { id: task.id }).collect();
    let details = engine.call(ops::All(details)).await?.into_iter().map(|detail| detail.task);
    let mut others: Vec<Task> =
        details.filter(|task| task.spec.description == keep.spec.description).collect();
    lineage::retain_own(engine, &mut others, |task| task.id).await?;
    if others.is_empty() {
        return Err(alone("no other task of its batch has the same prompt"));
    }
    Ok(others)
}

/// Stops them, and waits until their work is saved and committed.
async fn stop(engine: &Engine, open: &[TaskId]) -> Outcome<()> {
    if open.is_empty() {
        return Ok(());
    }
    let otherwise = "dropped by `fleet keep`";
    let request = CancelRequest { remark: None, otherwise, patience: None, until: StopUntil::Tidy };
    let cancelled = cancellation::cancel(engine, open, &request).await?;
    let runs: Vec<RunId> = cancelled.iter().filter_map(|one| one.run).collect();
    task_clean::wait_until_tidy(engine.home(), &runs).await;
    Ok(())
}
