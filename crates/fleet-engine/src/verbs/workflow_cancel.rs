use std::time::Duration;

use fleet_api::verbs::workflow_cancel::{Answer, Cancelled, Request};
use fleet_api::views::WorkflowView;
use fleet_core::id::WorkflowId;
use fleet_core::task::Remark;
use fleet_core::workflow::PartState;
use fleet_store::ops::{PartDetail, StoredWorkflow};

use super::prelude::*;
use super::task_add::parsed;
use super::workflow_show::meant;
use crate::cancellation::{self, CancelRequest, StopUntil, StoppedTask};

/// The workflows that the user named, each once.
pub(super) async fn ids(engine: &Engine, typed: &[String]) -> Outcome<Vec<WorkflowId>> {
    let mut ids = Vec::with_capacity(typed.len());
    for text in typed {
        let id = meant(engine, text).await?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let remark: Option<Remark> = request.remark.as_deref().map(parsed).transpose()?;
    let ids = ids(engine, &request.ids).await?;
    let mut before = Vec::with_capacity(ids.len());
    for id in &ids {
        before.push(engine.call(ops::GetWorkflow { id: *id, with_results: false }).await?);
    }
    if request.dry_run {
        let meant = before.iter().map(|detail| WorkflowView::from(&detail.workflow).into());
        return Ok(Answer { workflows: meant.collect() });
    }
    let now = engine.now();
    let cancel = |id: &WorkflowId| ops::CancelWorkflow { id: *id, why: remark.clone(), now };
    engine.call(ops::All(ids.iter().map(cancel).collect())).await?;
    // What runs was asked to stop in the same moment: here its end is hastened, and waited for.
    let mut asked = Vec::with_capacity(ids.len());
    for id in &ids {
        asked.push(engine.call(ops::GetWorkflow { id: *id, with_results: false }).await?);
    }
    let tasks: Vec<TaskId> = asked.iter().flat_map(at_work).collect();
    let cancel = CancelRequest {
        remark,
        otherwise: "its workflow was cancelled",
        patience: (!request.wait).then_some(Duration::ZERO),
        until: StopUntil::Tidy,
    };
    let cancelled = cancellation::cancel(engine, &tasks, &cancel).await?;
    let goes_on = |task: TaskId| {
        cancelled.iter().any(|one| one.task == task && matches!(one.fate, StoppedTask::GoesOn(_)))
    };
    let mut workflows = Vec::with_capacity(ids.len());
    for (before, asked) in before.iter().zip(&asked) {
        let id = asked.workflow.id;
        let after = engine.call(ops::GetWorkflow { id, with_results: false }).await?;
        let mut one = Cancelled::from(WorkflowView::from(&after.workflow));
        for part in after.parts.iter().filter(|part| !part.part.replaced) {
            let is_open = part.task.as_ref().is_some_and(|task| goes_on(task.id));
            list(&mut one, part, (before, asked), is_open).push(part.name.clone());
        }
        workflows.push(one);
    }
    Ok(Answer { workflows })
}

/// The tasks that have runs. A stage that was done may be running again, because a follow-up message arrived.
fn at_work(detail: &StoredWorkflow) -> impl Iterator<Item = TaskId> {
    let tasks = detail.parts.iter().filter_map(|part| part.task.as_ref());
    tasks.filter(|task| !task.state().is_settled()).map(|task| task.id)
}

/// Where a part belongs, given how it was before, and when everything had been asked to stop.
fn list<'a>(
    one: &'a mut Cancelled,
    part: &PartDetail,
    (before, asked): (&StoredWorkflow, &StoredWorkflow),
    goes_on: bool,
) -> &'a mut Vec<String> {
    let was = before.parts.get(part.at).map(|part| part.part.state.get());
    let worked = asked.parts.get(part.at).is_some_and(|part| part.part.state == PartState::Running);
    match part.part.state.get() {
        _ if goes_on => &mut one.going_on,
        PartState::Running => &mut one.going_on,
        PartState::Cancelled if worked => &mut one.stopped,
        PartState::Cancelled if was != Some(PartState::Cancelled) => &mut one.unstarted,
        _ => &mut one.over,
    }
}
